-- | One thread of the runtime per connection, made by forkIO, which sends back what comes.
module Main (main) where

import Control.Concurrent (forkFinally, runInUnboundThread)
import Control.Monad (forever, unless)
import qualified Data.ByteString as B
import Network.Socket
import Network.Socket.ByteString (recv, sendAll)
import System.Environment (getArgs)
import System.Exit (ExitCode (ExitFailure), exitWith)
import System.IO (BufferMode (LineBuffering), hPutStrLn, hSetBuffering, stderr, stdout)
import Text.Read (readMaybe)

main :: IO ()
main = do
  hSetBuffering stdout LineBuffering
  args <- getArgs
  case args of
    [tasks, "--listen", address]
      | Just count <- readMaybe tasks,
        count >= (1 :: Int),
        (host@(_ : _), ':' : port) <- break (== ':') address,
        Just number <- readMaybe port,
        number >= 0,
        number <= (65535 :: Int) ->
          -- main is bound to a thread of the system's, and each wait of it a switch of those.
          runInUnboundThread (serve host port)
    _ -> do
      hPutStrLn stderr "usage: echo <tasks> --listen <host>:<port>: a whole number, at least one task"
      exitWith (ExitFailure 2)

serve :: HostName -> ServiceName -> IO ()
serve host port = do
  address : _ <- getAddrInfo (Just defaultHints {addrSocketType = Stream}) (Just host) (Just port)
  listener <- openSocket address
  setSocketOption listener ReuseAddr 1
  bind listener (addrAddress address)
  listen listener 4096
  bound <- socketPort listener
  putStrLn ("listening " ++ show bound)
  forever $ do
    (client, _) <- accept listener
    forkFinally (setSocketOption client NoDelay 1 >> echo client) (const (close client))

echo :: Socket -> IO ()
echo client = do
  bytes <- recv client 4096
  unless (B.null bytes) $ do
    sendAll client bytes
    echo client
