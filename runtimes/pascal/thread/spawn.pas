{ One TThread, an OS thread, per operation, created and joined for its result. }
program Spawn;

{$mode objfpc}{$H+}

uses
  CThreads, BaseUnix, Classes, Math, SysUtils;

type
  TWorker = class(TThread)
  private
    FNumber: Integer;
  protected
    procedure Execute; override;
  public
    constructor Create(Number: Integer);
  end;

  { Runs the rounds in a thread: in the main thread WaitFor polls. }
  TRunner = class(TThread)
  protected
    procedure Execute; override;
  end;

var
  Tasks, Operations, Done: Integer;
  Sum: Int64;

{ Ends the program because a task cannot start. }
procedure GiveUp(Error: Exception);
begin
  WriteLn(StdErr, Format('cannot start %d tasks at once: %s', [Tasks, Error.Message]));
  WriteLn('done ', Done);
  WriteLn('failed ', Operations - Done);
  Flush(Output);
  Flush(StdErr);
  FpExit(1);
end;

constructor TWorker.Create(Number: Integer);
begin
  FNumber := Number;
  inherited Create(False);
end;

procedure TWorker.Execute;
begin
  ReturnValue := FNumber;
end;

procedure TRunner.Execute;
var
  Workers: array of TWorker;
  Round, I: Integer;
begin
  SetLength(Workers, Min(Tasks, Operations));
  while Done < Operations do
  begin
    Round := Min(Tasks, Operations - Done);
    for I := 0 to Round - 1 do
      try
        Workers[I] := TWorker.Create(Done + I);
      except
        on Error: EThread do
          GiveUp(Error);
      end;
    for I := 0 to Round - 1 do
    begin
      Sum := Sum + Workers[I].WaitFor;
      Workers[I].Free;
    end;
    Done := Done + Round;
  end;
end;

var
  Runner: TRunner;
begin
  Tasks := StrToInt(ParamStr(1));
  Operations := StrToInt(ParamStr(2));

  WriteLn('ready');
  Flush(Output);
  Runner := TRunner.Create(False);
  Runner.WaitFor;
  Runner.Free;
  WriteLn('done ', Operations);
  WriteLn('check ', Sum);
end.
