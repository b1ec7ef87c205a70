--  One Ada task per node of a tree, each waiting for its ten children.

with Ada.Command_Line; use Ada.Command_Line;
with Ada.Text_IO;      use Ada.Text_IO;
with GNAT.OS_Lib;      use GNAT.OS_Lib;

procedure Skynet is

   Tasks, Operations : Natural;
   Done              : Natural := 0;
   Sum               : Long_Long_Integer := 0;

   --  Several tasks can fail at once; the first one reports.
   protected Report is
      procedure Claim (First : out Boolean);
   private
      Claimed : Boolean := False;
   end Report;

   protected body Report is
      procedure Claim (First : out Boolean) is
      begin
         First := not Claimed;
         Claimed := True;
      end Claim;
   end Report;

   --  Ends the program, and every task with it, because a task cannot start.
   procedure Give_Up is
      First : Boolean;
   begin
      Report.Claim (First);
      if First then
         Put_Line
           (Standard_Error,
            "cannot start a tree of" & Tasks'Image & " leaves");
         Put_Line ("done" & Done'Image);
         Put_Line ("failed" & Natural'Image (Operations - Done));
         Flush;
         OS_Exit (1);
      end if;
   end Give_Up;

   --  The sum of so many children of so many leaves each, which begin with
   --  First; each child is a task.
   function Sum_Of_Children
     (Count, First, Leaves : Natural) return Long_Long_Integer
   is
      Sums : array (0 .. Count - 1) of Long_Long_Integer;
      Made : Natural := 0;

      --  Numbers the tasks of an array, which are made one after the other.
      function Next_Index return Natural is
      begin
         Made := Made + 1;
         return Made - 1;
      end Next_Index;

      task type Node (Index : Natural := Next_Index);

      task body Node is
         First_Leaf : constant Natural := First + Index * Leaves;
      begin
         Sums (Index) :=
           (if Leaves = 1
            then Long_Long_Integer (First_Leaf)
            else Sum_Of_Children (10, First_Leaf, Leaves / 10));
      end Node;
   begin
      declare
         Nodes : array (Sums'Range) of Node with Unreferenced;
      begin
         null;  --  the block ends when all its tasks have ended
      exception
         when Tasking_Error =>
            Give_Up;
      end;
      return Total : Long_Long_Integer := 0 do
         for Of_Child of Sums loop
            Total := Total + Of_Child;
         end loop;
      end return;
   end Sum_Of_Children;

   --  Digits only: 'Value alone takes " 1", "1E3" and "1_000" as well.
   function Parse (Text : String; Number : out Natural) return Boolean is
   begin
      Number := 0;
      if Text = "" or else (for some C of Text => C not in '0' .. '9') then
         return False;
      end if;
      Number := Natural'Value (Text);
      return True;
   exception
      when Constraint_Error =>
         return False;
   end Parse;

   function Is_Power_Of_Ten (Number : Natural) return Boolean is
     (Number = 1
      or else (Number > 0
               and then Number mod 10 = 0
               and then Is_Power_Of_Ten (Number / 10)));

begin
   if Argument_Count /= 2
     or else not Parse (Argument (1), Tasks)
     or else not Parse (Argument (2), Operations)
     or else not Is_Power_Of_Ten (Tasks)
     or else Operations = 0
     or else Operations mod Tasks /= 0
   then
      Put_Line
        (Standard_Error,
         "usage: skynet <tasks> <operations>: whole numbers,"
         & " tasks a power of ten, operations a multiple of it");
      Set_Exit_Status (2);
      return;
   end if;

   Put_Line ("ready");
   Flush;
   while Done < Operations loop
      Sum := Sum + Sum_Of_Children (1, 0, Tasks);
      Done := Done + Tasks;
   end loop;
   Put_Line ("done" & Operations'Image);
   Put_Line ("check" & Sum'Image);
end Skynet;
