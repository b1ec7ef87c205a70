-- | One Async per task, each waiting for one message.
module Main (main) where

import Control.Concurrent (MVar, newEmptyMVar, putMVar, takeMVar, threadDelay)
import Control.Concurrent.Async (async, wait)
import Control.Monad (replicateM, when)
import Data.IORef (IORef, atomicModifyIORef', newIORef, readIORef)
import GHC.Clock (getMonotonicTime)
import System.Environment (getArgs)
import System.Exit (ExitCode (ExitFailure), exitWith)
import System.IO (BufferMode (LineBuffering), hPutStrLn, hSetBuffering, stderr, stdout)
import Text.Read (readMaybe)

main :: IO ()
main = do
  hSetBuffering stdout LineBuffering
  args <- getArgs
  case mapM readMaybe args of
    Just [tasks, seconds] | tasks >= 1, seconds >= 0 -> run tasks seconds
    _ -> do
      hPutStrLn stderr "usage: park <tasks> <seconds>: whole numbers, at least one task"
      exitWith (ExitFailure 2)

run :: Int -> Int -> IO ()
run tasks seconds = do
  begin <- getMonotonicTime
  started <- newIORef 0
  finished <- newIORef 0
  running <- replicateM tasks $ do
    mailbox <- newEmptyMVar
    end <- async (task started finished mailbox)
    return (mailbox, end)
  now <- getMonotonicTime
  threadDelay (ceiling ((begin + fromIntegral seconds - now) * 1000000)) -- returns at once if that is past
  mapM_ (\(mailbox, _) -> putMVar mailbox ()) running
  mapM_ (wait . snd) running
  done <- readIORef finished
  putStrLn ("done " ++ show done)
  where
    task :: IORef Int -> IORef Int -> MVar () -> IO ()
    task started finished mailbox = do
      number <- increment started
      when (number == tasks) $ do
        ended <- readIORef finished
        putStrLn ("alive " ++ show (tasks - ended))
      takeMVar mailbox
      _ <- increment finished
      return ()

increment :: IORef Int -> IO Int
increment counter = atomicModifyIORef' counter (\n -> (n + 1, n + 1))
