-- | One Async per task, which waits for one message.
module Main (main) where

import Control.Concurrent (newEmptyMVar, putMVar, takeMVar, threadDelay)
import Control.Concurrent.Async (async, wait)
import Control.Monad (replicateM, void, when)
import Data.IORef (IORef, atomicModifyIORef', newIORef, readIORef)
import GHC.Clock (getMonotonicTime)
import System.Environment (getArgs)
import System.IO (BufferMode (LineBuffering), hSetBuffering, stdout)

main :: IO ()
main = do
  hSetBuffering stdout LineBuffering
  start <- getMonotonicTime
  [tasks, seconds] <- mapM readIO =<< getArgs
  started <- newIORef 0
  finished <- newIORef 0
  let task mailbox = do
        number <- increment started
        when (number == tasks) $ do
          ended <- readIORef finished
          putStrLn ("alive " ++ show (tasks - ended))
        () <- takeMVar mailbox
        void (increment finished)
  running <- replicateM tasks $ do
    mailbox <- newEmptyMVar
    end <- async (task mailbox)
    return (mailbox, end)
  now <- getMonotonicTime
  threadDelay (ceiling ((start + fromIntegral seconds - now) * 1000000)) -- returns at once where that is past
  mapM_ (\(mailbox, _) -> putMVar mailbox ()) running
  mapM_ (wait . snd) running
  done <- readIORef finished
  putStrLn ("done " ++ show done)

increment :: IORef Int -> IO Int
increment counter = atomicModifyIORef' counter (\n -> (n + 1, n + 1))
