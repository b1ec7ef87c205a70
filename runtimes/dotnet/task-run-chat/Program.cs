// One WebSocket of ASP.NET Core per connection, whose text messages join a room or speak in it.
using System.Net;
using System.Net.WebSockets;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Hosting;
using Microsoft.AspNetCore.Http;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;

if (args is not [var first, "--listen", var second]
    || !int.TryParse(first, out int count) || count < 1
    || !IPEndPoint.TryParse(second, out IPEndPoint? address))
{
    Console.Error.WriteLine("usage: task-run-chat <tasks> --listen <host>:<port>: at least one task, and an IP address");
    return 2;
}

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
return 0;

async Task Serve(HttpContext context)
{
    if (!context.WebSockets.IsWebSocketRequest)
    {
        context.Response.StatusCode = StatusCodes.Status400BadRequest;
        return;
    }
    // Not disposed, as that would abort the connection, with a close frame that is still on its way.
    WebSocket socket = await context.WebSockets.AcceptWebSocketAsync();
    await chat.Serve(socket, context.Abort);
}
