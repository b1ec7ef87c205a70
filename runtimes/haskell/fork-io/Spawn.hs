-- | One thread of the runtime per operation, made by forkIO, with an MVar for its result.
module Main (main) where

import Control.Concurrent
import Control.Monad (forM)
import System.Environment (getArgs)
import System.Exit (ExitCode (ExitFailure), exitWith)
import System.IO (BufferMode (LineBuffering), hPutStrLn, hSetBuffering, stderr, stdout)
import Text.Read (readMaybe)

main :: IO ()
main = do
  hSetBuffering stdout LineBuffering
  args <- getArgs
  case mapM readMaybe args of
    Just [tasks, operations] | tasks >= 1, operations >= 1 -> run tasks operations
    _ -> do
      hPutStrLn stderr "usage: spawn <tasks> <operations>: whole numbers, at least one of each"
      exitWith (ExitFailure 2)

run :: Int -> Int -> IO ()
run tasks operations = do
  putStrLn "ready"
  -- From a thread of the runtime: main is bound to one of the system's, and each wait of it a switch of those.
  end <- newEmptyMVar
  _ <- forkIO $ rounds tasks operations >>= putMVar end
  result <- takeMVar end
  putStrLn ("done " ++ show operations)
  putStrLn ("check " ++ show result)

rounds :: Int -> Int -> IO Int
rounds tasks operations = go 0 0
  where
    go first total
      | first >= operations = return total
      | otherwise = do
          let next = min operations (first + tasks)
          results <- forM [first .. next - 1] $ \number -> do
            result <- newEmptyMVar
            _ <- forkIO $ putMVar result number
            return result
          numbers <- mapM takeMVar results
          go next $! total + sum numbers
