-- | One Async per operation, awaited for its result.
module Main (main) where

import Control.Concurrent (runInUnboundThread)
import Control.Concurrent.Async (async, wait)
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
      running <- mapM (async . return) [first .. next - 1]
      numbers <- mapM wait running
      rounds tasks operations next $! total + sum numbers
