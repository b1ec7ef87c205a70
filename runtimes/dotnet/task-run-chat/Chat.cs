// The chat on a WebSocket of any server.
using System.Buffers;
using System.Net.WebSockets;
using System.Text;
using System.Threading.Channels;

sealed class Chat
{
    private const int MaxMessageBytes = 65_536;

    private readonly Rooms rooms = new();

    // Reads messages until the connection ends.
    public async Task Serve(WebSocket socket, Action disconnect)
    {
        var member = new Member(disconnect);
        Task writer = member.WriteTo(socket);
        WebSocketCloseStatus status;
        try
        {
            status = await Read(socket, member);
        }
        catch (WebSocketException)
        {
            return; // the client has disconnected, or the library has closed the connection for a wrong frame
        }
        finally
        {
            rooms.Leave(member);
            member.Complete();
        }
        await writer;
        await socket.CloseAsync(status, null, CancellationToken.None);
    }

    private async Task<WebSocketCloseStatus> Read(WebSocket socket, Member member)
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
            if (message.WrittenCount > MaxMessageBytes)
            {
                return WebSocketCloseStatus.MessageTooBig;
            }
            if (part.EndOfMessage)
            {
                if (!Handle(message.WrittenSpan, member))
                {
                    return WebSocketCloseStatus.PolicyViolation;
                }
                message.ResetWrittenCount();
                await Task.Yield(); // lets writers run: more messages may have arrived than a queue holds
            }
        }
    }

    private bool Handle(ReadOnlySpan<byte> message, Member member)
    {
        if (message.StartsWith("join "u8))
        {
            rooms.Join(Encoding.UTF8.GetString(message["join ".Length..]), member);
            return true;
        }
        if (message.StartsWith("say "u8) && member.Room is Room room)
        {
            room.Broadcast(message["say ".Length..].ToArray());
            return true;
        }
        return false;
    }
}

// A connection with a bounded queue and a task that writes from it.
sealed class Member(Action disconnect)
{
    // Hundreds of short messages can arrive while the OS keeps a writer's thread waiting for a CPU.
    private readonly Channel<byte[]> queue =
        Channel.CreateBounded<byte[]>(new BoundedChannelOptions(1024) { SingleReader = true });

    public Room? Room { get; set; }

    public void Send(byte[] message)
    {
        if (!queue.Writer.TryWrite(message))
        {
            disconnect(); // the queue is full: the client does not read
        }
    }

    public void Complete() => queue.Writer.Complete();

    public async Task WriteTo(WebSocket socket)
    {
        await foreach (byte[] message in queue.Reader.ReadAllAsync())
        {
            await socket.SendAsync(message, WebSocketMessageType.Text, endOfMessage: true, CancellationToken.None);
        }
    }
}

sealed class Room(string name)
{
    private readonly Lock gate = new();
    private readonly HashSet<Member> members = [];

    public string Name => name;

    public void Add(Member member)
    {
        lock (gate)
        {
            members.Add(member);
            member.Send(Encoding.UTF8.GetBytes($"joined {name}")); // before any message of the room
        }
    }

    // Whether the room is empty now.
    public bool Remove(Member member)
    {
        lock (gate)
        {
            members.Remove(member);
            return members.Count == 0;
        }
    }

    public void Broadcast(byte[] message)
    {
        lock (gate)
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
    private readonly Lock gate = new();
    private readonly Dictionary<string, Room> rooms = [];

    public void Join(string name, Member member)
    {
        lock (gate)
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
        lock (gate)
        {
            if (member.Room is Room room && room.Remove(member))
            {
                rooms.Remove(room.Name);
            }
            member.Room = null;
        }
    }
}
