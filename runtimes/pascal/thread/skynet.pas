{ One TThread, which is a thread of the operating system, per node of a tree, each waiting for its ten children. }
program Skynet;

{$mode objfpc}{$H+}

uses
  CThreads, BaseUnix, Classes, SysUtils;

type
  TNode = class(TThread)
  private
    FFirst, FLeaves: Integer;
    FSum: Int64;
  protected
    procedure Execute; override;
  public
    constructor Create(First, Leaves: Integer);
    { Waits for the sum of the numbers of its leaves, and frees it. }
    function Join: Int64;
  end;

  { The trees, in a thread: in the main one WaitFor asks ten times a second. }
  TLeader = class(TThread)
  protected
    procedure Execute; override;
  end;

var
  Tasks, Operations, Done: Integer;
  Sum: Int64;
  Report: TRTLCriticalSection;

{ Ends the program, and every task with it, because a task cannot start. }
procedure GiveUp(Error: Exception);
begin
  { Several threads can fail at once; the first one reports, the others wait for the end here. }
  EnterCriticalSection(Report);
  WriteLn(StdErr, Format('cannot start a tree of %d leaves: %s', [Tasks, Error.Message]));
  WriteLn('done ', Done);
  WriteLn('failed ', Operations - Done);
  Flush(Output);
  Flush(StdErr);
  FpExit(1);
end;

constructor TNode.Create(First, Leaves: Integer);
begin
  FFirst := First;
  FLeaves := Leaves;
  inherited Create(False);
end;

function TNode.Join: Int64;
begin
  WaitFor;
  Result := FSum;
  Free;
end;

function StartNode(First, Leaves: Integer): TNode;
begin
  try
    Result := TNode.Create(First, Leaves);
  except
    on Error: EThread do
      GiveUp(Error);
  end;
end;

procedure TNode.Execute;
var
  Children: array [0..9] of TNode;
  Share, I: Integer;
begin
  if FLeaves = 1 then
  begin
    FSum := FFirst;
    Exit;
  end;
  Share := FLeaves div 10;
  for I := 0 to 9 do
    Children[I] := StartNode(FFirst + I * Share, Share);
  for I := 0 to 9 do
    FSum := FSum + Children[I].Join;
end;

procedure TLeader.Execute;
begin
  while Done < Operations do
  begin
    Sum := Sum + StartNode(0, Tasks).Join;
    Done := Done + Tasks;
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

function IsPowerOfTen(Number: Integer): Boolean;
begin
  while (Number > 0) and (Number mod 10 = 0) do
    Number := Number div 10;
  Result := Number = 1;
end;

var
  Leader: TLeader;
begin
  if (ParamCount <> 2) or not Parse(ParamStr(1), Tasks) or not Parse(ParamStr(2), Operations)
    or not IsPowerOfTen(Tasks) or (Operations = 0) or (Operations mod Tasks <> 0) then
  begin
    WriteLn(StdErr, 'usage: skynet <tasks> <operations>: whole numbers, tasks a power of ten, ',
      'operations a multiple of it');
    Halt(2);
  end;

  InitCriticalSection(Report);
  WriteLn('ready');
  Flush(Output);
  Leader := TLeader.Create(False);
  Leader.WaitFor;
  Leader.Free;
  WriteLn('done ', Operations);
  WriteLn('check ', Sum);
end.
