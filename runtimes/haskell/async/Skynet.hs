-- | One Async per node of a tree, each waiting for its ten children.
module Main (main) where

import Control.Concurrent.Async (async, wait)
import Control.Monad (foldM, forM, (<$!>))
import System.Environment (getArgs)
import System.Exit (ExitCode (ExitFailure), exitWith)
import System.IO (BufferMode (LineBuffering), hPutStrLn, hSetBuffering, stderr, stdout)
import Text.Read (readMaybe)

main :: IO ()
main = do
  hSetBuffering stdout LineBuffering
  args <- getArgs
  case mapM readMaybe args of
    Just [tasks, operations]
      | isPowerOfTen tasks, operations >= 1, operations `mod` tasks == 0 -> run tasks operations
    _ -> do
      hPutStrLn stderr "usage: skynet <tasks> <operations>: tasks a power of ten, operations a multiple of them"
      exitWith (ExitFailure 2)

isPowerOfTen :: Int -> Bool
isPowerOfTen number = number `elem` takeWhile (<= number) (iterate (* 10) 1)

run :: Int -> Int -> IO ()
run tasks operations = do
  putStrLn "ready"
  -- From a thread of the runtime: main is bound to one of the system's, and each wait of it a switch of those.
  trees <- async $ foldM (\total _ -> (total +) <$!> (async (node 0 tasks) >>= wait)) 0 [1 .. operations `div` tasks]
  result <- wait trees
  putStrLn ("done " ++ show operations)
  putStrLn ("check " ++ show result)

-- | The sum of so many leaves from a number on.
node :: Int -> Int -> IO Int
node first 1 = return first
node first leaves = do
  let share = leaves `div` 10
  children <- forM [0 .. 9] $ \child -> async (node (first + child * share) share)
  numbers <- mapM wait children
  return $! sum numbers
