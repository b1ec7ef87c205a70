-- | One Async per operation, made and waited for, which is its result.
module Main (main) where

import Control.Concurrent.Async (async, wait)
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
  result <- async (rounds tasks operations) >>= wait
  putStrLn ("done " ++ show operations)
  putStrLn ("check " ++ show result)

rounds :: Int -> Int -> IO Int
rounds tasks operations = go 0 0
  where
    go first total
      | first >= operations = return total
      | otherwise = do
          let next = min operations (first + tasks)
          running <- mapM (async . return) [first .. next - 1]
          numbers <- mapM wait running
          go next $! total + sum numbers
