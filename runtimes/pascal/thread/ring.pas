{ A ring of TThreads, each passing tokens from its channel to the next. }
program Ring;

{$mode objfpc}{$H+}

uses
  CThreads, BaseUnix, Classes, SysUtils;

const
  { Ends a thread, in place of a token, which is the number of hops left. }
  Stop = -1;

type
  { A bounded buffer for one number. }
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

{ Ends the program because a task cannot start. }
procedure GiveUp(Launched: Integer; Error: Exception);
begin
  WriteLn(StdErr, Format('cannot start task %d of %d: %s', [Launched + 1, Tasks, Error.Message]));
  WriteLn('done 0');
  WriteLn('failed ', Tasks - Launched);
  Flush(Output);
  Flush(StdErr);
  FpExit(1);
end;

var
  Places: array of TPlace;
  I: Integer;
  Sum: Int64;
begin
  Tasks := StrToInt(ParamStr(1));
  Operations := StrToInt(ParamStr(2));
  Tokens := StrToIntDef(ParamStr(4), 1); { after --tokens }

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

  { The first tokens take the remainder. }
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
