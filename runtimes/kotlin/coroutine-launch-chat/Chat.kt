/** One coroutine per connection handles its messages. Coroutines of Ktor read and write its frames, behind channels. */

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
import java.util.concurrent.ConcurrentHashMap
import kotlinx.coroutines.awaitCancellation
import kotlinx.coroutines.cancel
import kotlinx.coroutines.runBlocking

private const val MAX_MESSAGE = 65_536L // bytes
private const val MAX_QUEUED = 1_024    // messages; while the JVM is new, members lag by hundreds on a busy CPU

private val rooms = ConcurrentHashMap<String, MutableSet<Member>>()

private class Member(private val session: DefaultWebSocketServerSession) {
    private var room: String? = null

    /** Returns when the connection ends, with the reason if it is to be closed. */
    suspend fun handle(): CloseReason? {
        for (frame in session.incoming) {
            if (frame !is Frame.Text) return CloseReason(Codes.CANNOT_ACCEPT, "")
            // Not readText, which replaces what is not UTF-8.
            val message = try {
                frame.data.decodeToString(throwOnInvalidSequence = true)
            } catch (_: CharacterCodingException) {
                return CloseReason(Codes.NOT_CONSISTENT, "")
            }
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

    /** One frame per member, as sending consumes it; all share the bytes. A member whose channel is full is cut off. */
    private suspend fun say(text: ByteArray) {
        val members = rooms[room].orEmpty()
        for (member in members) {
            if (member != this && !member.session.outgoing.trySend(Frame.Text(true, text)).isSuccess) {
                member.leave()
                member.session.cancel("does not read")
            }
        }
        session.send(Frame.Text(true, text)) // waits while its own channel is full
    }
}

fun main(args: Array<String>) {
    val (host, port) = args[2].split(':') // <tasks> --listen <host>:<port>
    val server = embeddedServer(CIO, port.toInt(), host) {
        install(WebSockets) {
            maxFrameSize = MAX_MESSAGE
            channels {
                incoming = bounded(MAX_QUEUED)
                outgoing = bounded(MAX_QUEUED)
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
