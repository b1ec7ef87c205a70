// One Task.Run of an async method per connection: a WebSocket of the standard library on a socket, without ASP.NET Core.
using System.Net;
using System.Net.Sockets;
using System.Net.WebSockets;
using System.Security.Cryptography;
using System.Text;

_ = int.Parse(args[0]);
var listener = new TcpListener(IPEndPoint.Parse(args[2]));
var chat = new Chat();
listener.Start(4096);
Console.WriteLine($"listening {((IPEndPoint)listener.LocalEndpoint).Port}");
try
{
    while (true)
    {
        TcpClient client = await listener.AcceptTcpClientAsync();
        _ = Task.Run(() => Serve(client));
    }
}
catch (SocketException error)
{
    listener.Stop(); // frees a descriptor for the console: they may have run out
    Console.Error.WriteLine(error.Message.ToLowerInvariant());
    return 1;
}

// An exception ends the connection.
async Task Serve(TcpClient client)
{
    using (client)
    {
        client.NoDelay = true;
        if (await Accept(client.GetStream()) is WebSocket socket)
        {
            await chat.Serve(socket, disconnect: () => client.Client.Close(0));
        }
    }
}

// The handshake, which the standard library leaves to the server.
static async Task<WebSocket?> Accept(NetworkStream stream)
{
    var request = new byte[8192];
    int length = 0;
    while (!request.AsSpan(0, length).EndsWith("\r\n\r\n"u8))
    {
        int count = await stream.ReadAsync(request.AsMemory(length));
        if (count == 0)
        {
            return null; // the client has disconnected, or the request is too long
        }
        length += count;
    }

    ILookup<string, string> headers = Encoding.ASCII.GetString(request, 0, length).Split("\r\n")
        .Select(line => line.Split(':', 2))
        .Where(parts => parts.Length == 2)
        .ToLookup(parts => parts[0], parts => parts[1].Trim(), StringComparer.OrdinalIgnoreCase);
    bool Has(string name, string value) => headers[name]
        .SelectMany(values => values.Split(',', StringSplitOptions.TrimEntries))
        .Contains(value, StringComparer.OrdinalIgnoreCase);

    if (!Has("Upgrade", "websocket") || !Has("Connection", "upgrade") || !Has("Sec-WebSocket-Version", "13")
        || headers["Sec-WebSocket-Key"].FirstOrDefault() is not string key)
    {
        await stream.WriteAsync("HTTP/1.1 400 Bad Request\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"u8.ToArray());
        return null;
    }
    string accept = Convert.ToBase64String(SHA1.HashData(Encoding.ASCII.GetBytes(key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11")));
    await stream.WriteAsync(Encoding.ASCII.GetBytes(
        $"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: {accept}\r\n\r\n"));
    return WebSocket.CreateFromStream(stream, new WebSocketCreationOptions { IsServer = true, KeepAliveInterval = Timeout.InfiniteTimeSpan });
}
