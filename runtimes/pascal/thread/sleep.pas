{ One TThread, which is a thread of the operating system, per task. }
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
  { Of the program, so that proving the tasks alive adds nothing to what a task holds. }
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

{ Ends the program, and every task with it, because a task cannot start. }
procedure GiveUp(Launched: Integer; Error: Exception);
begin
  WriteLn(StdErr, Format('cannot start task %d of %d: %s', [Launched + 1, Tasks, Error.Message]));
  WriteLn('done ', InterlockedExchangeAdd(FinishedTasks, 0));
  WriteLn('failed ', Tasks - Launched);
  Flush(Output);
  Flush(StdErr);
  FpExit(1);
end;

{ Digits only: TryStrToInt64 alone takes ' 1', '-1' and '$1' as well, and TryStrToInt what does not fit. }
function Parse(const Text: String; out Number: Integer): Boolean;
var
  C: Char;
  Value: Int64;
begin
  for C in Text do
    if not (C in ['0'..'9']) then
      Exit(False);
  Result := TryStrToInt64(Text, Value) and (Value <= High(Integer));
  if Result then
    Number := Value;
end;

var
  Threads: array of TWaiter;
  Thread: TWaiter;
  I: Integer;
begin
  if (ParamCount <> 2) or not Parse(ParamStr(1), Tasks) or not Parse(ParamStr(2), Seconds) or (Tasks = 0) then
  begin
    WriteLn(StdErr, 'usage: sleep <tasks> <seconds>: whole numbers, at least one task');
    Halt(2);
  end;

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
