--  One Ada task per task, each waiting for a call of its entry.

with Ada.Calendar;     use Ada.Calendar;
with Ada.Command_Line; use Ada.Command_Line;
with Ada.Text_IO;      use Ada.Text_IO;
with GNAT.OS_Lib;      use GNAT.OS_Lib;

procedure Park is

   Start_Time : constant Time := Clock;

   Tasks, Seconds : Natural;

   --  Of the program, so that proving the tasks alive adds nothing to what a
   --  task holds.
   protected Counters is
      procedure Start (Alive : out Natural);
      --  Alive is the number of tasks alive, when all have started; else 0.
      procedure Finish;
      function Started return Natural;
      function Finished return Natural;
   private
      Count_Started, Count_Finished : Natural := 0;
   end Counters;

   protected body Counters is
      procedure Start (Alive : out Natural) is
      begin
         Count_Started := Count_Started + 1;
         Alive := (if Count_Started = Tasks then Tasks - Count_Finished else 0);
      end Start;

      procedure Finish is
      begin
         Count_Finished := Count_Finished + 1;
      end Finish;

      function Started return Natural is (Count_Started);
      function Finished return Natural is (Count_Finished);
   end Counters;

   function Count_Start return Natural is
   begin
      return Alive : Natural do
         Counters.Start (Alive);
      end return;
   end Count_Start;

   task type Waiter is
      entry Wake;
   end Waiter;

   task body Waiter is
      Alive : constant Natural := Count_Start;
   begin
      if Alive > 0 then
         Put_Line ("alive" & Alive'Image);
         Flush;
      end if;
      accept Wake;
      Counters.Finish;
   end Waiter;

   --  Ends the program, and every task with it, because a task cannot start.
   procedure Give_Up is
   begin
      Put_Line
        (Standard_Error,
         "cannot start task" & Natural'Image (Counters.Started + 1)
         & " of" & Tasks'Image);
      Put_Line ("done" & Counters.Finished'Image);
      Put_Line ("failed" & Natural'Image (Tasks - Counters.Started));
      Flush;
      OS_Exit (1);
   end Give_Up;

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

begin
   if Argument_Count /= 2
     or else not Parse (Argument (1), Tasks)
     or else not Parse (Argument (2), Seconds)
     or else Tasks = 0
   then
      Put_Line
        (Standard_Error,
         "usage: park <tasks> <seconds>: whole numbers, at least one task");
      Set_Exit_Status (2);
      return;
   end if;

   declare
      Waiters : array (1 .. Tasks) of Waiter;
   begin
      delay until Start_Time + Duration (Seconds);
      for Each of Waiters loop
         Each.Wake;
      end loop;
   exception
      when Tasking_Error =>
         Give_Up;
   end;
   Put_Line ("done" & Counters.Finished'Image);
end Park;
