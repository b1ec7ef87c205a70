-- | One Async per task: a thread of GHC's runtime, and a variable for its result.
module Main (main) where

import Control.Concurrent (threadDelay)
import Control.Concurrent.Async (async, wait)
import Control.Monad (replicateM, void, when)
import Data.IORef (IORef, atomicModifyIORef', newIORef, readIORef)
import System.Environment (getArgs)
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
  running <- replicateM tasks (async task)
  mapM_ wait running
  done <- readIORef finished
  putStrLn ("done " ++ show done)

increment :: IORef Int -> IO Int
increment counter = atomicModifyIORef' counter (\n -> (n + 1, n + 1))
