// One WebSocket of ASP.NET Core per connection.
using System.Net;
using System.Net.WebSockets;

_ = int.Parse(args[0]);
IPEndPoint address = IPEndPoint.Parse(args[2]);
var chat = new Chat();

WebApplicationBuilder builder = WebApplication.CreateSlimBuilder();
builder.Logging.ClearProviders();
builder.Services.Configure<HostOptions>(options => options.ShutdownTimeout = TimeSpan.Zero);
builder.WebHost.UseSockets(options => options.Backlog = 4096);
builder.WebHost.ConfigureKestrel(options => options.Listen(address));

WebApplication app = builder.Build();
app.UseWebSockets(new WebSocketOptions { KeepAliveInterval = Timeout.InfiniteTimeSpan });
app.Run(Serve);
app.Lifetime.ApplicationStarted.Register(() => Console.WriteLine($"listening {new Uri(app.Urls.Single()).Port}"));
await app.RunAsync();

async Task Serve(HttpContext context)
{
    if (!context.WebSockets.IsWebSocketRequest)
    {
        context.Response.StatusCode = StatusCodes.Status400BadRequest;
        return;
    }
    // Without `using`: Dispose would abort the connection before the last close frame is sent.
    WebSocket socket = await context.WebSockets.AcceptWebSocketAsync();
    await chat.Serve(socket, disconnect: context.Abort);
}
