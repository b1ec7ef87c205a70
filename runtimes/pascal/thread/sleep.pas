{ One TThread, an OS thread, per task. }
program Sleep;

{$mode objfpc}{$H+}

uses
  CThreads, BaseUnix, Classes, SysUtils;

type
  TWaiter = class(TThread)
  protected
    procedure Execute; override;
  end;

var
  { Global, so that counting adds nothing to the memory of a task. }
  StartedTasks, FinishedTasks: LongInt;
  Tasks, Seconds: Integer;

procedure TWaiter.Execute;
begin
  if InterlockedIncrement(StartedTasks) = Tasks then
  begin
    WriteLn('alive ', Tasks - InterlockedExchangeAdd(FinishedTasks, 0));
    Flush(Output);
  end;
  SysUtils.Sleep(Seconds * 1000);
  InterlockedIncrement(FinishedTasks);
end;

{ Ends the program because a task cannot start. }
procedure GiveUp(Launched: Integer; Error: Exception);
begin
  WriteLn(StdErr, Format('cannot start task %d of %d: %s', [Launched + 1, Tasks, Error.Message]));
  WriteLn('done ', InterlockedExchangeAdd(FinishedTasks, 0));
  WriteLn('failed ', Tasks - Launched);
  Flush(Output);
  Flush(StdErr);
  FpExit(1);
end;

var
  Threads: array of TWaiter;
  Thread: TWaiter;
  I: Integer;
begin
  Tasks := StrToInt(ParamStr(1));
  Seconds := StrToInt(ParamStr(2));

  SetLength(Threads, Tasks);
  for I := 0 to Tasks - 1 do
    try
      Threads[I] := TWaiter.Create(False);
    except
      on Error: EThread do
        GiveUp(I, Error);
    end;
  for Thread in Threads do
  begin
    Thread.WaitFor;
    Thread.Free;
  end;

  WriteLn('done ', FinishedTasks);
end.
