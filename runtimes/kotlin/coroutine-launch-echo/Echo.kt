/** One coroutine per connection, which sends back what comes. */

import io.ktor.network.selector.SelectorManager
import io.ktor.network.sockets.InetSocketAddress
import io.ktor.network.sockets.Socket
import io.ktor.network.sockets.aSocket
import io.ktor.network.sockets.openReadChannel
import io.ktor.network.sockets.openWriteChannel
import io.ktor.network.sockets.port
import io.ktor.utils.io.copyTo
import java.io.IOException
import kotlin.system.exitProcess
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.launch
import kotlinx.coroutines.runBlocking

fun main(args: Array<String>) {
    val tasks = args.firstOrNull()?.toIntOrNull()
    val address = args.takeIf { it.size == 3 && it[1] == "--listen" }?.let { address(it[2]) }
    if (tasks == null || tasks < 1 || address == null) {
        System.err.println("usage: Echo <tasks> --listen <host>:<port>: a whole number, at least one task")
        exitProcess(2)
    }

    runBlocking(Dispatchers.Default) {
        val server = aSocket(SelectorManager(Dispatchers.IO)).tcp().bind(address) { backlogSize = 4096 }
        println("listening ${server.port}")
        while (true) {
            val socket = server.accept()
            launch { echo(socket) }
        }
    }
}

private suspend fun echo(socket: Socket) {
    try {
        socket.use { it.openReadChannel().copyTo(it.openWriteChannel(autoFlush = true)) }
    } catch (_: IOException) {
        // the end of this connection alone
    }
}

private fun address(hostAndPort: String): InetSocketAddress? {
    val port = hostAndPort.substringAfterLast(':').toUShortOrNull() ?: return null
    return InetSocketAddress(hostAndPort.substringBeforeLast(':'), port.toInt())
}
