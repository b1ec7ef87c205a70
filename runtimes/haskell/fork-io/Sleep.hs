-- | One thread of GHC's runtime per task, created by forkIO.
module Main (main) where

import Control.Concurrent (forkFinally, newEmptyMVar, putMVar, takeMVar, threadDelay)
import Control.Monad (replicateM, void, when)
import Data.IORef (IORef, atomicModifyIORef', newIORef, readIORef)
import System.Environment (getArgs)
import System.Exit (exitFailure)
import System.IO (BufferMode (LineBuffering), hSetBuffering, stdout)

main :: IO ()
main = do
  hSetBuffering stdout LineBuffering
  [tasks, seconds] <- mapM readIO =<< getArgs
  started <- newIORef 0
  finished <- newIORef 0
  let task = do
        number <- increment started
        when (number == tasks) $ do
          ended <- readIORef finished
          putStrLn ("alive " ++ show (tasks - ended))
        threadDelay (seconds * 1000000)
        void (increment finished)
  ends <- replicateM tasks $ do
    end <- newEmptyMVar
    _ <- forkFinally task (putMVar end)
    return end
  mapM_ takeMVar ends
  done <- readIORef finished
  putStrLn ("done " ++ show done)
  when (done < tasks) exitFailure

increment :: IORef Int -> IO Int
increment counter = atomicModifyIORef' counter (\n -> (n + 1, n + 1))
