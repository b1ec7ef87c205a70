--  One Ada task per task, an OS thread.

with Ada.Command_Line; use Ada.Command_Line;
with Ada.Text_IO;      use Ada.Text_IO;
with GNAT.OS_Lib;      use GNAT.OS_Lib;

procedure Sleep is

   Tasks   : constant Natural := Natural'Value (Argument (1));
   Seconds : constant Natural := Natural'Value (Argument (2));

   --  Global, so that counting adds nothing to the memory of a task.
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

   task type Waiter;

   task body Waiter is
      Alive : constant Natural := Count_Start;
   begin
      if Alive > 0 then
         Put_Line ("alive" & Alive'Image);
         Flush;
      end if;
      delay Duration (Seconds);
      Counters.Finish;
   end Waiter;

   --  Ends the program because a task cannot start.
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

begin
   declare
      Waiters : array (1 .. Tasks) of Waiter with Unreferenced;
   begin
      null;  --  the block waits for its tasks
   exception
      when Tasking_Error =>
         Give_Up;
   end;
   Put_Line ("done" & Counters.Finished'Image);
end Sleep;
