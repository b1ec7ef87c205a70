--  One Ada task per place in a ring, each handing on the tokens that come
--  through its channel.

with Ada.Command_Line; use Ada.Command_Line;
with Ada.Synchronous_Task_Control; use Ada.Synchronous_Task_Control;
with Ada.Text_IO;      use Ada.Text_IO;
with GNAT.OS_Lib;      use GNAT.OS_Lib;

procedure Ring is

   --  The hops that it has left; the last one ends a task.
   subtype Token is Integer range -1 .. Integer'Last;
   Stop : constant Token := -1;

   --  Room for one.
   protected type Channel is
      entry Put (Item : Token);
      entry Take (Item : out Token);
   private
      Held : Token;
      Full : Boolean := False;
   end Channel;

   protected body Channel is
      entry Put (Item : Token) when not Full is
      begin
         Held := Item;
         Full := True;
      end Put;

      entry Take (Item : out Token) when Full is
      begin
         Item := Held;
         Full := False;
      end Take;
   end Channel;

   Tasks, Operations : Natural;
   Tokens            : Natural := 1;
   All_Alive         : Suspension_Object;

   --  Of the program, so that proving the tasks alive adds nothing to what a
   --  task holds.
   protected Counter is
      procedure Start (Number : out Natural);
      --  Number is the number of the tasks that started before.
      function Started return Natural;
   private
      Count : Natural := 0;
   end Counter;

   protected body Counter is
      procedure Start (Number : out Natural) is
      begin
         Number := Count;
         Count := Count + 1;
      end Start;

      function Started return Natural is (Count);
   end Counter;

   function Count_Start return Natural is
   begin
      return Number : Natural do
         Counter.Start (Number);
      end return;
   end Count_Start;

   --  Ends the program, and every task with it, because a task cannot start.
   procedure Give_Up is
   begin
      Put_Line
        (Standard_Error,
         "cannot start task" & Natural'Image (Counter.Started + 1)
         & " of" & Tasks'Image);
      Put_Line ("done 0");
      Put_Line ("failed" & Natural'Image (Tasks - Counter.Started));
      Flush;
      OS_Exit (1);
   end Give_Up;

   procedure Run is
      Channels : array (0 .. Tasks - 1) of Channel;
      Noted    : Channel;
      Sum      : Long_Long_Integer := 0;

      task type Place;

      task body Place is
         Number : constant Natural := Count_Start;
         Hops   : Token;
      begin
         if Number = Tasks - 1 then
            Put_Line ("alive" & Tasks'Image);
            Set_True (All_Alive);
         end if;
         loop
            Channels (Number).Take (Hops);
            exit when Hops = Stop;
            if Hops > 0 then
               Channels ((Number + 1) mod Tasks).Put (Hops - 1);
            else
               Noted.Put (Number);
            end if;
         end loop;
      end Place;

      Places : array (Channels'Range) of Place with Unreferenced;
   begin
      Suspend_Until_True (All_Alive);
      Put_Line ("ready");
      Flush;
      for Index in 0 .. Tokens - 1 loop
         --  Where the operations cannot be shared evenly, the first tokens
         --  make one hop more.
         Channels
           (Natural
              (Long_Long_Integer (Index) * Long_Long_Integer (Tasks)
               / Long_Long_Integer (Tokens)))
           .Put
             (Operations / Tokens
              + (if Index < Operations mod Tokens then 1 else 0));
      end loop;
      for Index in 1 .. Tokens loop
         declare
            Number : Natural;
         begin
            Noted.Take (Number);
            Sum := Sum + Long_Long_Integer (Number);
         end;
      end loop;
      Put_Line ("done" & Operations'Image);
      Put_Line ("check" & Sum'Image);
      Flush;
      for Each of Channels loop
         Each.Put (Stop);
      end loop;
   exception
      when Tasking_Error =>
         Give_Up;
   end Run;

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

   function Parse_Arguments return Boolean is
     ((Argument_Count = 2
       or else
         (Argument_Count = 4
          and then Argument (3) = "--tokens"
          and then Parse (Argument (4), Tokens)))
      and then Parse (Argument (1), Tasks)
      and then Parse (Argument (2), Operations)
      and then Operations > 0
      and then Tokens in 1 .. Tasks / 2);

begin
   if not Parse_Arguments then
      Put_Line
        (Standard_Error,
         "usage: ring <tasks> <operations> [--tokens <tokens>]: whole numbers,"
         & " at least one operation, at most half as many tokens as tasks");
      Set_Exit_Status (2);
      return;
   end if;
   Run;
end Ring;
