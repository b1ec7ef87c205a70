{-# LANGUAGE LambdaCase #-}
{-# LANGUAGE OverloadedStrings #-}

-- | Two threads of GHC's runtime per connection: one reads, the other writes from a bounded queue.
module Main (main) where

import Control.Concurrent
import Control.Concurrent.Async (withAsync)
import Control.Concurrent.STM
import Control.Exception (finally, handle, throwIO)
import Control.Monad (forever, unless)
import Data.ByteString.Lazy (ByteString, stripPrefix)
import qualified Data.Map.Strict as Map
import Data.Maybe (isJust)
import Data.Word (Word16)
import Network.Socket
import Network.WebSockets (ConnectionOptions (..), SizeLimit (SizeLimit))
import qualified Network.WebSockets as WS
import System.Environment (getArgs)
import System.IO (BufferMode (LineBuffering), hSetBuffering, stdout)
import System.Timeout (timeout)

data Member = Member {reader :: ThreadId, queue :: TBQueue ByteString}

type Rooms = TVar (Map.Map ByteString (Map.Map ThreadId Member))

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
  rooms <- newTVarIO Map.empty
  forever $ do
    (client, _) <- accept listener
    forkFinally (talk rooms client) (const (close client))

options :: ConnectionOptions
options =
  WS.defaultConnectionOptions
    { connectionFramePayloadSizeLimit = SizeLimit 65536,
      connectionMessageDataSizeLimit = SizeLimit 65536,
      connectionStrictUnicode = True
    }

talk :: Rooms -> Socket -> IO ()
talk rooms client = do
  setSocketOption client NoDelay 1
  connection <- WS.makePendingConnection client options >>= WS.acceptRequest
  self <- Member <$> myThreadId <*> newTBQueueIO 256
  room <- newTVarIO Nothing
  withAsync (write connection (queue self)) $ \_ ->
    handle (answerError connection) (forever $ WS.receiveDataMessage connection >>= answer rooms room self connection)
      `finally` atomically (leave rooms room self)

-- | Writes all that is in the queue at once.
write :: WS.Connection -> TBQueue ByteString -> IO ()
write connection queued = forever $ do
  messages <- atomically $ (:) <$> readTBQueue queued <*> flushTBQueue queued
  WS.sendTextDatas connection messages

-- | The library itself answers pings and close frames, and throws CloseRequest after the latter.
answerError :: WS.Connection -> WS.ConnectionException -> IO ()
answerError connection = \case
  WS.ParseException _ -> WS.sendCloseCode connection 1002 ("" :: ByteString)
  WS.UnicodeException _ -> WS.sendCloseCode connection 1007 ("" :: ByteString)
  _ -> return ()

answer :: Rooms -> TVar (Maybe ByteString) -> Member -> WS.Connection -> WS.DataMessage -> IO ()
answer rooms room self connection = \case
  WS.Binary _ -> end 1003
  WS.Text text _
    | Just name <- stripPrefix "join " text -> do
        atomically (join name)
        send ("joined " <> name) self
    | Just message <- stripPrefix "say " text ->
        readTVarIO room >>= \case
          Nothing -> end 1008
          Just name -> do
            members <- Map.findWithDefault Map.empty name <$> readTVarIO rooms
            mapM_ (send message) members
            yield -- lets writers run: more messages may have arrived than a queue holds
    | otherwise -> end 1008
  where
    join name = do
      leave rooms room self
      writeTVar room (Just name)
      modifyTVar' rooms (Map.insertWith Map.union name (Map.singleton (reader self) self))

    end :: Word16 -> IO ()
    end code = do
      WS.sendCloseCode connection code ("" :: ByteString)
      throwIO WS.ConnectionClosed

-- | Queues a message. A queue that stays full for 0.1 s belongs to a client that does not read: its connection ends.
-- The wait is for writers on another core that have not run yet.
send :: ByteString -> Member -> IO ()
send message member = do
  queued <- atomically $ (Just <$> enqueue) `orElse` return Nothing
  unless (isJust queued) $
    timeout 100000 (atomically enqueue) >>= maybe (killThread (reader member)) return
  where
    enqueue = writeTBQueue (queue member) message

leave :: Rooms -> TVar (Maybe ByteString) -> Member -> STM ()
leave rooms room self =
  swapTVar room Nothing >>= mapM_ (modifyTVar' rooms . Map.update without)
  where
    without members = case Map.delete (reader self) members of
      rest | Map.null rest -> Nothing
           | otherwise -> Just rest
