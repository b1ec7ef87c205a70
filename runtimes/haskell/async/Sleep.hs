-- | One Async per task: a thread of the runtime, and what it takes to wait for it.
module Main (main) where

import Control.Concurrent (threadDelay)
import Control.Concurrent.Async (async, wait)
import Control.Monad (replicateM, when)
import Data.IORef (IORef, atomicModifyIORef', newIORef, readIORef)
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
      hPutStrLn stderr "usage: sleep <tasks> <seconds>: whole numbers, at least one task"
      exitWith (ExitFailure 2)

run :: Int -> Int -> IO ()
run tasks seconds = do
  started <- newIORef 0
  finished <- newIORef 0
  running <- replicateM tasks $ async (task started finished)
  mapM_ wait running
  done <- readIORef finished
  putStrLn ("done " ++ show done)
  where
    task :: IORef Int -> IORef Int -> IO ()
    task started finished = do
      number <- increment started
      when (number == tasks) $ do
        ended <- readIORef finished
        putStrLn ("alive " ++ show (tasks - ended))
      threadDelay (seconds * 1000000)
      _ <- increment finished
      return ()

increment :: IORef Int -> IO Int
increment counter = atomicModifyIORef' counter (\n -> (n + 1, n + 1))
