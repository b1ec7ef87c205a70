{ One TThread, which is a thread of the operating system, per operation, made and waited for, for its result. }
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

  { The rounds, in a thread: in the main one WaitFor asks ten times a second. }
  TLeader = class(TThread)
  protected
    procedure Execute; override;
  end;

var
  Tasks, Operations, Done: Integer;
  Sum: Int64;

{ Ends the program, and every task with it, because a task cannot start. }
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

procedure TLeader.Execute;
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
  Leader: TLeader;
begin
  if (ParamCount <> 2) or not Parse(ParamStr(1), Tasks) or not Parse(ParamStr(2), Operations) or (Tasks = 0)
    or (Operations = 0) then
  begin
    WriteLn(StdErr, 'usage: spawn <tasks> <operations>: whole numbers, at least one of each');
    Halt(2);
  end;

  WriteLn('ready');
  Flush(Output);
  Leader := TLeader.Create(False);
  Leader.WaitFor;
  Leader.Free;
  WriteLn('done ', Operations);
  WriteLn('check ', Sum);
end.
