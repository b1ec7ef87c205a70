// One Task.Run of an async method per connection, which sends back what comes.
using System.Net;
using System.Net.Sockets;
using System.Runtime.InteropServices;

if (args is not [var first, "--listen", var second]
    || !int.TryParse(first, out int count) || count < 1
    || !IPEndPoint.TryParse(second, out IPEndPoint? address))
{
    Console.Error.WriteLine("usage: task-run-echo <tasks> --listen <host>:<port>: at least one task, and an IP address");
    return 2;
}

// Ended without a handler the runtime leaves its debugger's pipes behind.
using var ended = PosixSignalRegistration.Create(PosixSignal.SIGTERM, _ => Environment.Exit(0));

var listener = new TcpListener(address);
listener.Start(4096);
Console.WriteLine($"listening {((IPEndPoint)listener.LocalEndpoint).Port}");

try
{
    while (true)
    {
        TcpClient client = await listener.AcceptTcpClientAsync();
        _ = Task.Run(() => Echo(client));
    }
}
catch (SocketException error)
{
    listener.Stop(); // where descriptors have run out, the console needs one too
    Console.Error.WriteLine(error.Message.ToLowerInvariant());
    return 1;
}

static async Task Echo(TcpClient client)
{
    using (client)
    {
        client.NoDelay = true;
        NetworkStream stream = client.GetStream();
        try
        {
            await stream.CopyToAsync(stream, 4096);
        }
        catch (IOException)
        {
            // The client has gone.
        }
    }
}
