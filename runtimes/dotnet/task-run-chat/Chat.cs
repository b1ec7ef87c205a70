// What is said on a WebSocket, whichever server it comes from.
using System.Buffers;
using System.Net.WebSockets;
using System.Text;
using System.Threading.Channels;

sealed class Chat
{
    private const int LargestMessage = 65_536;

    private readonly Rooms rooms = new();

    // Returns when the WebSocket is closed, or has to be. Whoever does not read is cut off by abort.
    public async Task Serve(WebSocket socket, Action abort)
    {
        var member = new Member(abort);
        Task writing = member.WriteTo(socket); // a task of its own, so that whoever speaks does not wait for it
        WebSocketCloseStatus status;
        try
        {
            status = await Hear(member, socket);
        }
        catch (WebSocketException)
        {
            return; // the client has gone, or broke the protocol, which the library has told it
        }
        finally
        {
            rooms.Leave(member);
            member.End();
        }
        await writing;
        await socket.CloseAsync(status, null, CancellationToken.None);
    }

    private async Task<WebSocketCloseStatus> Hear(Member member, WebSocket socket)
    {
        var message = new ArrayBufferWriter<byte>();
        while (true)
        {
            ValueWebSocketReceiveResult part = await socket.ReceiveAsync(message.GetMemory(), CancellationToken.None);
            message.Advance(part.Count);
            if (part.MessageType == WebSocketMessageType.Close)
            {
                return socket.CloseStatus ?? WebSocketCloseStatus.Empty;
            }
            if (part.MessageType == WebSocketMessageType.Binary)
            {
                return WebSocketCloseStatus.InvalidMessageType;
            }
            if (message.WrittenCount > LargestMessage)
            {
                return WebSocketCloseStatus.MessageTooBig;
            }
            if (part.EndOfMessage)
            {
                if (!Obey(member, message.WrittenSpan))
                {
                    return WebSocketCloseStatus.PolicyViolation;
                }
                message.ResetWrittenCount();
                await Task.Yield(); // or whoever has much to say keeps the thread that would write to the members
            }
        }
    }

    private bool Obey(Member member, ReadOnlySpan<byte> message)
    {
        if (message.StartsWith("join "u8))
        {
            rooms.Join(Encoding.UTF8.GetString(message["join ".Length..]), member);
            return true;
        }
        if (message.StartsWith("say "u8) && member.Room is Room room)
        {
            room.Say(message["say ".Length..].ToArray());
            return true;
        }
        return false;
    }
}

sealed class Member(Action abort)
{
    // Bytes that wait for a member, before it is cut off. Not a number of messages: short ones come
    // by the hundred while the system lets another thread run than the one that writes to the member.
    private const int MostUnsent = 1_048_576;
    private const int FrameHeader = 4;

    private readonly Channel<byte[]> outgoing = Channel.CreateUnbounded<byte[]>(new() { SingleReader = true });
    private int unsent;

    public Room? Room { get; set; }

    public void Send(byte[] message)
    {
        if (Interlocked.Add(ref unsent, FrameHeader + message.Length) > MostUnsent)
        {
            abort();
        }
        else
        {
            outgoing.Writer.TryWrite(message);
        }
    }

    public void End() => outgoing.Writer.Complete();

    public async Task WriteTo(WebSocket socket)
    {
        await foreach (byte[] message in outgoing.Reader.ReadAllAsync())
        {
            await socket.SendAsync(message, WebSocketMessageType.Text, endOfMessage: true, CancellationToken.None);
            Interlocked.Add(ref unsent, -(FrameHeader + message.Length));
        }
    }
}

sealed class Room(string name)
{
    private readonly HashSet<Member> members = [];

    public string Name => name;

    public void Add(Member member)
    {
        lock (members)
        {
            members.Add(member);
            member.Send(Encoding.UTF8.GetBytes($"joined {name}")); // before all that is said from now on
        }
    }

    // Whether nobody is left.
    public bool Remove(Member member)
    {
        lock (members)
        {
            members.Remove(member);
            return members.Count == 0;
        }
    }

    public void Say(byte[] message)
    {
        lock (members)
        {
            foreach (Member member in members)
            {
                member.Send(message);
            }
        }
    }
}

sealed class Rooms
{
    private readonly Dictionary<string, Room> rooms = [];

    public void Join(string name, Member member)
    {
        lock (rooms)
        {
            Leave(member);
            if (!rooms.TryGetValue(name, out Room? room))
            {
                rooms[name] = room = new Room(name);
            }
            room.Add(member);
            member.Room = room;
        }
    }

    public void Leave(Member member)
    {
        lock (rooms)
        {
            if (member.Room is Room room && room.Remove(member))
            {
                rooms.Remove(room.Name);
            }
            member.Room = null;
        }
    }
}
