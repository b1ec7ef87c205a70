-- | One thread of GHC's runtime per operation, created by forkIO, with an MVar for its result.
module Main (main) where

import Control.Concurrent (forkIO, newEmptyMVar, putMVar, runInUnboundThread, takeMVar)
import Control.Monad (forM)
import System.Environment (getArgs)
import System.IO (BufferMode (LineBuffering), hSetBuffering, stdout)

main :: IO ()
main = do
  hSetBuffering stdout LineBuffering
  [tasks, operations] <- mapM readIO =<< getArgs
  putStrLn "ready"
  -- main is bound to an OS thread: each time it waits, the OS switches threads.
  total <- runInUnboundThread (rounds tasks operations 0 0)
  putStrLn ("done " ++ show operations)
  putStrLn ("check " ++ show total)

rounds :: Int -> Int -> Int -> Int -> IO Int
rounds tasks operations first total
  | first >= operations = return total
  | otherwise = do
      let next = min operations (first + tasks)
      results <- forM [first .. next - 1] $ \number -> do
        result <- newEmptyMVar
        _ <- forkIO (putMVar result number)
        return result
      numbers <- mapM takeMVar results
      rounds tasks operations next $! total + sum numbers
