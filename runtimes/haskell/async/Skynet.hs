-- | One Async per node of a tree, which waits for its ten children.
module Main (main) where

import Control.Concurrent (runInUnboundThread)
import Control.Concurrent.Async (async, wait)
import Control.Monad (foldM, forM, (<$!>))
import System.Environment (getArgs)
import System.IO (BufferMode (LineBuffering), hSetBuffering, stdout)

main :: IO ()
main = do
  hSetBuffering stdout LineBuffering
  [tasks, operations] <- mapM readIO =<< getArgs
  putStrLn "ready"
  -- main is bound to an OS thread: each time it waits, the OS switches threads.
  total <- runInUnboundThread $
    foldM (\total _ -> (total +) <$!> (async (node 0 tasks) >>= wait)) 0 [1 .. operations `div` tasks]
  putStrLn ("done " ++ show operations)
  putStrLn ("check " ++ show total)

-- | The sum of the leaves, which are numbered from first on.
node :: Int -> Int -> IO Int
node first 1 = return first
node first leaves = do
  let share = leaves `div` 10
  children <- forM [0 .. 9] $ \child -> async (node (first + child * share) share)
  numbers <- mapM wait children
  return $! sum numbers
