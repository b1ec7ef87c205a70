-- | One Async per task, which passes tokens from its MVar to that of the next.
module Main (main) where

import Control.Concurrent (MVar, newEmptyMVar, putMVar, takeMVar)
import Control.Concurrent.Async (async)
import Control.Monad (forM_, forever, replicateM, when)
import Data.Array (listArray, (!))
import Data.IORef (IORef, atomicModifyIORef', newIORef)
import System.Environment (getArgs)
import System.IO (BufferMode (LineBuffering), hSetBuffering, stdout)

main :: IO ()
main = do
  hSetBuffering stdout LineBuffering
  args <- getArgs
  [tasks, operations, tokens] <- mapM readIO $ case args of
    [n, hops, "--tokens", count] -> [n, hops, count]
    _ -> args ++ ["1"]
  started <- newIORef 0
  allStarted <- newEmptyMVar
  arrived <- newEmptyMVar
  mailboxes <- replicateM tasks newEmptyMVar
  forM_ (zip3 [0 ..] mailboxes (drop 1 (cycle mailboxes))) $ \(number, mailbox, next) ->
    async $ do
      count <- increment started
      when (count == tasks) $ do
        putStrLn ("alive " ++ show tasks)
        putMVar allStarted ()
      pass mailbox next arrived number
  takeMVar allStarted
  putStrLn "ready"

  let ring = listArray (0, tasks - 1) mailboxes
  forM_ [0 .. tokens - 1] $ \token ->
    putMVar (ring ! (token * tasks `div` tokens)) $! (operations + tokens - 1 - token) `div` tokens
  numbers <- replicateM tokens (takeMVar arrived)
  putStrLn ("done " ++ show operations)
  putStrLn ("check " ++ show (sum numbers)) -- the threads end with main

-- | A token is the number of hops that it has left.
pass :: MVar Int -> MVar Int -> MVar Int -> Int -> IO ()
pass mailbox next arrived number = forever $ do
  hops <- takeMVar mailbox
  if hops > 0 then putMVar next $! hops - 1 else putMVar arrived number

increment :: IORef Int -> IO Int
increment counter = atomicModifyIORef' counter (\n -> (n + 1, n + 1))
