-- | One thread of GHC's runtime per task, created by forkIO. All of them share an IntMap in an IORef.
module Main (main) where

import Control.Concurrent (forkIO, newEmptyMVar, putMVar, runInUnboundThread, takeMVar)
import Control.Monad (forM)
import Data.IORef (IORef, atomicModifyIORef', newIORef, readIORef)
import Data.IntMap.Strict (IntMap, (!))
import qualified Data.IntMap.Strict as IntMap
import System.Environment (getArgs)
import System.IO (BufferMode (LineBuffering), hSetBuffering, stdout)

filled :: Int
filled = 65536

main :: IO ()
main = do
  hSetBuffering stdout LineBuffering
  [tasks, operations] <- mapM readIO =<< getArgs
  entries <- newIORef $! IntMap.fromList [(key i, i) | i <- [0 .. filled - 1]]
  putStrLn "ready"
  -- main is bound to an OS thread: each time it waits, the OS switches threads.
  total <- runInUnboundThread $ do
    results <- forM [0 .. tasks - 1] $ \task -> do
      result <- newEmptyMVar
      _ <- forkIO $ do
        total <- work entries (task * operations `div` tasks) ((task + 1) * operations `div` tasks) 0
        putMVar result $! total
      return result
    sum <$> mapM takeMVar results
  size <- IntMap.size <$> readIORef entries
  putStrLn ("done " ++ show operations)
  putStrLn ("check " ++ show (total + size))

-- | Does the operations from the first up to the next, and sums the values that they read.
work :: IORef (IntMap Int) -> Int -> Int -> Int -> IO Int
work entries operation next total
  | operation == next = return total
  | otherwise = do
      let added = filled + operation
      atomicModifyIORef' entries $ \old -> (IntMap.insert (key added) added old, ())
      value <- (! key (operation `mod` filled)) <$> readIORef entries
      work entries (operation + 1) next $! total + value

key :: Int -> Int
key i = i * 2654435761 `mod` 4294967296
