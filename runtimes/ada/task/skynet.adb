--  A tree of Ada tasks, each waiting for its ten children.

with Ada.Command_Line; use Ada.Command_Line;
with Ada.Text_IO;      use Ada.Text_IO;
with GNAT.OS_Lib;      use GNAT.OS_Lib;

procedure Skynet is

   Tasks      : constant Natural := Natural'Value (Argument (1));
   Operations : constant Natural := Natural'Value (Argument (2));
   Done       : Natural := 0;
   Sum        : Long_Long_Integer := 0;

   --  Several tasks can fail at once: the first reports.
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

   --  Ends the program because a task cannot start.
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

   --  Starts Count tasks of Leaves leaves each, from First up, and returns the
   --  sum of their results.
   function Sum_Of_Children
     (Count, First, Leaves : Natural) return Long_Long_Integer
   is
      Sums : array (0 .. Count - 1) of Long_Long_Integer;
      Made : Natural := 0;

      --  Numbers the tasks of an array, which are created in order.
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
         null;  --  the block waits for its tasks
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

begin
   Put_Line ("ready");
   Flush;
   while Done < Operations loop
      Sum := Sum + Sum_Of_Children (1, 0, Tasks);
      Done := Done + Tasks;
   end loop;
   Put_Line ("done" & Operations'Image);
   Put_Line ("check" & Sum'Image);
end Skynet;
