{ One TThread, which is a thread of the operating system, per place in a ring, each handing on the tokens that come
  through its channel. }
program Ring;

{$mode objfpc}{$H+}

uses
  CThreads, BaseUnix, Classes, SysUtils;

const
  { In the place of a token, which is the number of hops that it has left: ends a thread. }
  Stop = -1;

type
  { Room for one number. }
  TChannel = class
  private
    FRoom, FFull: PRTLEvent;
    FNumber: Integer;
  public
    constructor Create;
    procedure Put(Number: Integer);
    function Take: Integer;
  end;

  TPlace = class(TThread)
  private
    FNumber: Integer;
  protected
    procedure Execute; override;
  public
    constructor Create(Number: Integer);
  end;

var
  StartedTasks: LongInt;
  AllAlive: PRTLEvent;
  Tasks, Operations, Tokens: Integer;
  Channels: array of TChannel;
  Noted: TChannel;

constructor TChannel.Create;
begin
  FRoom := RTLEventCreate;
  FFull := RTLEventCreate;
  RTLEventSetEvent(FRoom);
end;

procedure TChannel.Put(Number: Integer);
begin
  RTLEventWaitFor(FRoom);
  FNumber := Number;
  RTLEventSetEvent(FFull);
end;

function TChannel.Take: Integer;
begin
  RTLEventWaitFor(FFull);
  Result := FNumber;
  RTLEventSetEvent(FRoom);
end;

constructor TPlace.Create(Number: Integer);
begin
  FNumber := Number;
  inherited Create(False);
end;

procedure TPlace.Execute;
var
  Hops: Integer;
begin
  if InterlockedIncrement(StartedTasks) = Tasks then
  begin
    WriteLn('alive ', Tasks);
    Flush(Output);
    RTLEventSetEvent(AllAlive);
  end;
  repeat
    Hops := Channels[FNumber].Take;
    if Hops > 0 then
      Channels[(FNumber + 1) mod Tasks].Put(Hops - 1)
    else if Hops = 0 then
      Noted.Put(FNumber);
  until Hops = Stop;
end;

{ Ends the program, and every task with it, because a task cannot start. }
procedure GiveUp(Launched: Integer; Error: Exception);
begin
  WriteLn(StdErr, Format('cannot start task %d of %d: %s', [Launched + 1, Tasks, Error.Message]));
  WriteLn('done 0');
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

function ParseArguments: Boolean;
begin
  Tokens := 1;
  Result := ((ParamCount = 2) or (ParamCount = 4) and (ParamStr(3) = '--tokens') and Parse(ParamStr(4), Tokens))
    and Parse(ParamStr(1), Tasks) and Parse(ParamStr(2), Operations)
    and (Operations > 0) and (Tokens > 0) and (Tokens <= Tasks div 2);
end;

var
  Places: array of TPlace;
  I: Integer;
  Sum: Int64;
begin
  if not ParseArguments then
  begin
    WriteLn(StdErr, 'usage: ring <tasks> <operations> [--tokens <tokens>]: whole numbers, at least one operation, ',
      'at most half as many tokens as tasks');
    Halt(2);
  end;

  AllAlive := RTLEventCreate;
  Noted := TChannel.Create;
  SetLength(Channels, Tasks);
  for I := 0 to Tasks - 1 do
    Channels[I] := TChannel.Create;
  SetLength(Places, Tasks);
  for I := 0 to Tasks - 1 do
    try
      Places[I] := TPlace.Create(I);
    except
      on Error: EThread do
        GiveUp(I, Error);
    end;
  RTLEventWaitFor(AllAlive);
  WriteLn('ready');
  Flush(Output);

  { Where the operations cannot be shared evenly, the first tokens make one hop more. }
  for I := 0 to Tokens - 1 do
    Channels[Int64(I) * Tasks div Tokens].Put(Operations div Tokens + Ord(I < Operations mod Tokens));
  Sum := 0;
  for I := 1 to Tokens do
    Sum := Sum + Noted.Take;
  WriteLn('done ', Operations);
  WriteLn('check ', Sum);
  Flush(Output);

  for I := 0 to Tasks - 1 do
    Channels[I].Put(Stop);
  for I := 0 to Tasks - 1 do
    Places[I].WaitFor;
end.
