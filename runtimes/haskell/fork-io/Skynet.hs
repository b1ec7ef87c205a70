-- | One thread of GHC's runtime per node of a tree, created by forkIO, with an MVar for its sum.
module Main (main) where

import Control.Concurrent (MVar, forkIO, newEmptyMVar, putMVar, runInUnboundThread, takeMVar)
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
    foldM (\total _ -> (total +) <$!> (start 0 tasks >>= takeMVar)) 0 [1 .. operations `div` tasks]
  putStrLn ("done " ++ show operations)
  putStrLn ("check " ++ show total)

-- | Starts the node whose leaves are numbered from first on.
start :: Int -> Int -> IO (MVar Int)
start first leaves = do
  result <- newEmptyMVar
  _ <- forkIO $ do
    total <- node first leaves
    putMVar result $! total
  return result

node :: Int -> Int -> IO Int
node first 1 = return first
node first leaves = do
  let share = leaves `div` 10
  children <- forM [0 .. 9] $ \child -> start (first + child * share) share
  sum <$> mapM takeMVar children
