-- | One thread of GHC's runtime per connection, created by forkIO, which sends back what it receives.
module Main (main) where

import Control.Concurrent (forkFinally, runInUnboundThread)
import Control.Monad (forever, unless)
import qualified Data.ByteString as B
import Network.Socket
import Network.Socket.ByteString (recv, sendAll)
import System.Environment (getArgs)
import System.IO (BufferMode (LineBuffering), hSetBuffering, stdout)

main :: IO ()
main = do
  hSetBuffering stdout LineBuffering
  [tasks, "--listen", address] <- getArgs
  _ <- readIO tasks :: IO Int
  let (host, port) = break (== ':') address
  -- main is bound to an OS thread: each time it waits, the OS switches threads.
  runInUnboundThread (serve host (drop 1 port))

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
