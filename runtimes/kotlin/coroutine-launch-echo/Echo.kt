/** One coroutine per connection, which sends back what comes. */

import io.ktor.network.selector.SelectorManager
import io.ktor.network.sockets.Socket
import io.ktor.network.sockets.aSocket
import io.ktor.network.sockets.openReadChannel
import io.ktor.network.sockets.openWriteChannel
import io.ktor.network.sockets.port
import io.ktor.utils.io.readAvailable
import io.ktor.utils.io.writeFully
import java.io.IOException
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.launch
import kotlinx.coroutines.runBlocking

fun main(args: Array<String>) = runBlocking(Dispatchers.Default) {
    val (host, port) = args[2].split(':') // <tasks> --listen <host>:<port>
    val server = aSocket(SelectorManager(Dispatchers.IO)).tcp().bind(host, port.toInt()) { backlogSize = 4096 }
    println("listening ${server.port}")
    while (true) {
        val socket = server.accept()
        launch { echo(socket) }
    }
}

private suspend fun echo(socket: Socket) {
    try {
        socket.use {
            val input = it.openReadChannel()
            val output = it.openWriteChannel(autoFlush = true)
            val buffer = ByteArray(4096)
            while (true) {
                val length = input.readAvailable(buffer)
                if (length < 0) break
                output.writeFully(buffer, 0, length)
            }
        }
    } catch (_: IOException) {
        // ends this connection only
    }
}
