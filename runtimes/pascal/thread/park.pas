{ One TThread, an OS thread, per task, each waiting for an event. }
program Park;

{$mode objfpc}{$H+}

uses
  CThreads, BaseUnix, Classes, SysUtils;

type
  TWaiter = class(TThread)
  private
    FMailbox: PRTLEvent;
  protected
    procedure Execute; override;
  public
    constructor Create;
    destructor Destroy; override;
    procedure Wake;
  end;

var
  { Global, so that counting adds nothing to the memory of a task. }
  StartedTasks, FinishedTasks: LongInt;
  Tasks, Seconds: Integer;

constructor TWaiter.Create;
begin
  FMailbox := RTLEventCreate;
  inherited Create(False);
end;

destructor TWaiter.Destroy;
begin
  inherited Destroy;
  RTLEventDestroy(FMailbox);
end;

procedure TWaiter.Wake;
begin
  RTLEventSetEvent(FMailbox);
end;

procedure TWaiter.Execute;
begin
  if InterlockedIncrement(StartedTasks) = Tasks then
  begin
    WriteLn('alive ', Tasks - InterlockedExchangeAdd(FinishedTasks, 0));
    Flush(Output);
  end;
  RTLEventWaitFor(FMailbox);
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
  Start, Passed: QWord;
begin
  Start := GetTickCount64;
  Tasks := StrToInt(ParamStr(1));
  Seconds := StrToInt(ParamStr(2));

  SetLength(Threads, Tasks);
  for I := 0 to Tasks - 1 do
    try
      Threads[I] := TWaiter.Create;
    except
      on Error: EThread do
        GiveUp(I, Error);
    end;
  Passed := GetTickCount64 - Start;
  if Passed < QWord(Seconds) * 1000 then
    Sleep(QWord(Seconds) * 1000 - Passed);
  for Thread in Threads do
    Thread.Wake;
  for Thread in Threads do
  begin
    Thread.WaitFor;
    Thread.Free;
  end;

  WriteLn('done ', FinishedTasks);
end.
