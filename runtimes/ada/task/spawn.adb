--  One Ada task per operation, created and joined, with a slot for its result.

with Ada.Command_Line; use Ada.Command_Line;
with Ada.Text_IO;      use Ada.Text_IO;
with GNAT.OS_Lib;      use GNAT.OS_Lib;

procedure Spawn is

   Tasks      : constant Natural := Natural'Value (Argument (1));
   Operations : constant Natural := Natural'Value (Argument (2));
   Done       : Natural := 0;
   Sum        : Long_Long_Integer := 0;

   --  Ends the program because a task cannot start.
   procedure Give_Up is
   begin
      Put_Line
        (Standard_Error, "cannot start" & Tasks'Image & " tasks at once");
      Put_Line ("done" & Done'Image);
      Put_Line ("failed" & Natural'Image (Operations - Done));
      Flush;
      OS_Exit (1);
   end Give_Up;

   procedure Run_Round (Length : Positive) is
      Results : array (0 .. Length - 1) of Natural;
      Made    : Natural := 0;

      --  Numbers the tasks of an array, which are created in order.
      function Next_Index return Natural is
      begin
         Made := Made + 1;
         return Made - 1;
      end Next_Index;

      task type Worker (Index : Natural := Next_Index);

      task body Worker is
      begin
         Results (Index) := Done + Index;
      end Worker;
   begin
      declare
         Workers : array (Results'Range) of Worker with Unreferenced;
      begin
         null;  --  the block waits for its tasks
      exception
         when Tasking_Error =>
            Give_Up;
      end;
      for Result of Results loop
         Sum := Sum + Long_Long_Integer (Result);
      end loop;
      Done := Done + Length;
   end Run_Round;

begin
   Put_Line ("ready");
   Flush;
   while Done < Operations loop
      Run_Round (Natural'Min (Tasks, Operations - Done));
   end loop;
   Put_Line ("done" & Operations'Image);
   Put_Line ("check" & Sum'Image);
end Spawn;
