{ A tree of TThreads, each waiting for its ten children. }
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
    { Waits for the sum of First, ..., First + Leaves - 1, and frees the node. }
    function Join: Int64;
  end;

  { Runs the trees in a thread: in the main thread WaitFor polls. }
  TRunner = class(TThread)
  protected
    procedure Execute; override;
  end;

var
  Tasks, Operations, Done: Integer;
  Sum: Int64;
  Report: TRTLCriticalSection;

{ Ends the program because a task cannot start. }
procedure GiveUp(Error: Exception);
begin
  { Several threads can fail at once: the first reports. }
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

procedure TRunner.Execute;
begin
  while Done < Operations do
  begin
    Sum := Sum + StartNode(0, Tasks).Join;
    Done := Done + Tasks;
  end;
end;

var
  Runner: TRunner;
begin
  Tasks := StrToInt(ParamStr(1));
  Operations := StrToInt(ParamStr(2));

  InitCriticalSection(Report);
  WriteLn('ready');
  Flush(Output);
  Runner := TRunner.Create(False);
  Runner.WaitFor;
  Runner.Free;
  WriteLn('done ', Operations);
  WriteLn('check ', Sum);
end.
