// One Task.Run of an async method per connection, which sends back what it receives.
using System.Net;
using System.Net.Sockets;
using System.Runtime.InteropServices;

_ = int.Parse(args[0]);
var listener = new TcpListener(IPEndPoint.Parse(args[2]));
// Without a handler of SIGTERM the runtime leaves its diagnostic pipes behind.
using var signal = PosixSignalRegistration.Create(PosixSignal.SIGTERM, _ => Environment.Exit(0));

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
    listener.Stop(); // frees a descriptor for the console: they may have run out
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
            // The client has disconnected.
        }
    }
}
