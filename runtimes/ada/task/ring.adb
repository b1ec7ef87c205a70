--  A ring of Ada tasks, each passing tokens from its channel to the next.

with Ada.Command_Line; use Ada.Command_Line;
with Ada.Synchronous_Task_Control; use Ada.Synchronous_Task_Control;
with Ada.Text_IO;      use Ada.Text_IO;
with GNAT.OS_Lib;      use GNAT.OS_Lib;

procedure Ring is

   --  The number of hops left; Stop ends a task.
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

   Tasks      : constant Natural := Natural'Value (Argument (1));
   Operations : constant Natural := Natural'Value (Argument (2));
   Tokens     : constant Natural :=  --  after --tokens
     (if Argument_Count > 3 then Natural'Value (Argument (4)) else 1);
   All_Alive  : Suspension_Object;

   --  Global, so that counting adds nothing to the memory of a task.
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

   --  Ends the program because a task cannot start.
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
         --  The first tokens take the remainder.
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

begin
   Run;
end Ring;
