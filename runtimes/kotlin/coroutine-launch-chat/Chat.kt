/** One coroutine per connection handles what comes. Ktor has others that read and write it, behind channels. */

import io.ktor.server.application.install
import io.ktor.server.cio.CIO
import io.ktor.server.engine.embeddedServer
import io.ktor.server.routing.routing
import io.ktor.server.websocket.DefaultWebSocketServerSession
import io.ktor.server.websocket.WebSockets
import io.ktor.server.websocket.webSocket
import io.ktor.websocket.CloseReason
import io.ktor.websocket.CloseReason.Codes
import io.ktor.websocket.Frame
import io.ktor.websocket.close
import io.ktor.websocket.readText
import java.util.concurrent.ConcurrentHashMap
import kotlin.system.exitProcess
import kotlinx.coroutines.awaitCancellation
import kotlinx.coroutines.cancel
import kotlinx.coroutines.runBlocking

private const val LARGEST = 65_536L // bytes of a message
private const val QUEUED = 1_024    // messages that a member may be behind; a JVM that has just started is, on half a CPU

private val rooms = ConcurrentHashMap<String, MutableSet<Member>>()

private class Member(private val session: DefaultWebSocketServerSession) {
    private var room: String? = null

    /** Ends with the connection, or with the reason to close it. */
    suspend fun handle(): CloseReason? {
        for (frame in session.incoming) {
            if (frame !is Frame.Text) return CloseReason(Codes.CANNOT_ACCEPT, "")
            val message = frame.readText()
            when {
                message.startsWith("join ") -> join(message.removePrefix("join "))
                message.startsWith("say ") && room != null -> say(message.removePrefix("say ").encodeToByteArray())
                else -> return CloseReason(Codes.VIOLATED_POLICY, "")
            }
        }
        return null
    }

    private suspend fun join(name: String) {
        leave()
        room = name
        rooms.compute(name) { _, members -> (members ?: ConcurrentHashMap.newKeySet()).apply { add(this@Member) } }
        session.send(Frame.Text("joined $name"))
    }

    fun leave() {
        rooms.computeIfPresent(room ?: return) { _, members ->
            members.remove(this)
            members.ifEmpty { null }
        }
    }

    /** Each has a frame of its own around the same bytes: a frame is used up by sending it. */
    private suspend fun say(text: ByteArray) {
        val members = rooms[room].orEmpty()
        for (member in members) {
            if (member != this && !member.session.outgoing.trySend(Frame.Text(true, text)).isSuccess) {
                member.leave()
                member.session.cancel("does not read")
            }
        }
        session.send(Frame.Text(true, text)) // who sends may wait for its own socket
    }
}

fun main(args: Array<String>) {
    val tasks = args.firstOrNull()?.toIntOrNull()
    val host = args.getOrNull(2)?.substringBeforeLast(':')
    val port = args.getOrNull(2)?.substringAfterLast(':', "")?.toUShortOrNull()
    if (args.size != 3 || args[1] != "--listen" || tasks == null || tasks < 1 || host == null || port == null) {
        System.err.println("usage: Chat <tasks> --listen <host>:<port>: a whole number, at least one task")
        exitProcess(2)
    }

    val server = embeddedServer(CIO, port.toInt(), host) {
        install(WebSockets) {
            maxFrameSize = LARGEST
            channels {
                incoming = bounded(QUEUED)
                outgoing = bounded(QUEUED)
            }
        }
        routing {
            webSocket("{...}") {
                val member = Member(this)
                try {
                    member.handle()?.let { close(it) }
                } finally {
                    member.leave()
                }
            }
        }
    }.start()
    runBlocking {
        println("listening ${server.engine.resolvedConnectors().single().port}")
        awaitCancellation() // Ktor's own threads are daemons
    }
}
