{-# LANGUAGE LambdaCase #-}
{-# LANGUAGE OverloadedStrings #-}

-- | A thread of the runtime per connection, made by forkIO, which reads, and one more that writes what the room says.
module Main (main) where

import Control.Concurrent
import Control.Concurrent.Async (withAsync)
import Control.Concurrent.STM
import Control.Exception (finally, handle, throwIO)
import Control.Monad (filterM, forever)
import Data.ByteString.Lazy (ByteString, stripPrefix)
import qualified Data.Map.Strict as Map
import Data.Maybe (isJust)
import Data.Word (Word16)
import Network.Socket
import Network.WebSockets (ConnectionOptions (..), SizeLimit (SizeLimit))
import qualified Network.WebSockets as WS
import System.Environment (getArgs)
import System.Exit (ExitCode (ExitFailure), exitWith)
import System.IO (BufferMode (LineBuffering), hPutStrLn, hSetBuffering, stderr, stdout)
import System.Timeout (timeout)
import Text.Read (readMaybe)

type Members = Map.Map ThreadId (TBQueue ByteString)

type Rooms = Map.Map ByteString Members

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
      hPutStrLn stderr "usage: chat <tasks> --listen <host>:<port>: a whole number, at least one task"
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

talk :: TVar Rooms -> Socket -> IO ()
talk rooms client = do
  setSocketOption client NoDelay 1
  connection <- WS.makePendingConnection client options >>= WS.acceptRequest
  self <- myThreadId
  queue <- newTBQueueIO 256
  room <- newTVarIO Nothing
  withAsync (forever $ atomically (readTBQueue queue) >>= WS.sendTextData connection) $ \_ ->
    handle (refuse connection) (forever $ WS.receiveDataMessage connection >>= answer rooms room self queue connection)
      `finally` atomically (leave rooms room self)

-- | The library answers a ping or a close itself, and tells of a close by an exception.
refuse :: WS.Connection -> WS.ConnectionException -> IO ()
refuse connection = \case
  WS.ParseException _ -> WS.sendCloseCode connection 1002 ("" :: ByteString)
  WS.UnicodeException _ -> WS.sendCloseCode connection 1007 ("" :: ByteString)
  _ -> return ()

answer :: TVar Rooms -> TVar (Maybe ByteString) -> ThreadId -> TBQueue ByteString -> WS.Connection -> WS.DataMessage -> IO ()
answer rooms room self queue connection = \case
  WS.Binary _ -> end 1003
  WS.Text text _
    | Just name <- stripPrefix "join " text -> do
        atomically $ do
          leave rooms room self
          writeTVar room (Just name)
          modifyTVar' rooms (Map.insertWith Map.union name (Map.singleton self queue))
        deliver ("joined " <> name) (Map.singleton self queue)
    | Just said <- stripPrefix "say " text ->
        readTVarIO room >>= \case
          Nothing -> end 1008
          Just name -> do
            members <- Map.findWithDefault Map.empty name <$> readTVarIO rooms
            deliver said members
            yield -- to those that write: there may be more to read than their queues hold
    | otherwise -> end 1008
  where
    end :: Word16 -> IO ()
    end code = do
      WS.sendCloseCode connection code ("" :: ByteString)
      throwIO WS.ConnectionClosed

-- | Puts a message into each queue, and ends the thread of one that stays full, as its client does not read: the
-- thread that writes may be on another core, and not have run yet.
deliver :: ByteString -> Members -> IO ()
deliver text members = do
  stuck <- filterM (fmap not . offer . snd) (Map.toList members)
  mapM_ (killThread . fst) stuck
  where
    offer queue = do
      full <- atomically (isFullTBQueue queue)
      isJust <$> (if full then timeout 100000 else fmap Just) (atomically (writeTBQueue queue text))

leave :: TVar Rooms -> TVar (Maybe ByteString) -> ThreadId -> STM ()
leave rooms room self =
  swapTVar room Nothing >>= \case
    Nothing -> return ()
    Just name -> modifyTVar' rooms (Map.update (without self) name)
  where
    without member members = case Map.delete member members of
      rest | Map.null rest -> Nothing
           | otherwise -> Just rest
