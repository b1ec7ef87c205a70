-- | One Async per place in a ring, each with an MVar from which it takes tokens.
module Main (main) where

import Control.Concurrent (MVar, newEmptyMVar, putMVar, takeMVar)
import Control.Concurrent.Async (async)
import Control.Monad (forM_, forever, replicateM, when)
import Data.Array (listArray, (!))
import Data.IORef (IORef, atomicModifyIORef', newIORef)
import System.Environment (getArgs)
import System.Exit (ExitCode (ExitFailure), exitWith)
import System.IO (BufferMode (LineBuffering), hPutStrLn, hSetBuffering, stderr, stdout)
import Text.Read (readMaybe)

main :: IO ()
main = do
  hSetBuffering stdout LineBuffering
  args <- getArgs
  case arguments args of
    Just [tasks, operations, tokens]
      | operations >= 1, tokens >= 1, tokens <= tasks `div` 2 -> run tasks operations tokens
    _ -> do
      hPutStrLn stderr "usage: ring <tasks> <operations> [--tokens <tokens>]: whole numbers, at least two tasks for each token"
      exitWith (ExitFailure 2)

arguments :: [String] -> Maybe [Int]
arguments [tasks, operations] = arguments [tasks, operations, "--tokens", "1"]
arguments [tasks, operations, "--tokens", tokens] = mapM readMaybe [tasks, operations, tokens]
arguments _ = Nothing

run :: Int -> Int -> Int -> IO ()
run tasks operations tokens = do
  started <- newIORef 0
  allStarted <- newEmptyMVar
  noted <- newEmptyMVar
  mailboxes <- replicateM tasks newEmptyMVar
  forM_ (zip3 [0 ..] mailboxes (drop 1 (cycle mailboxes))) $ \(number, mailbox, next) ->
    async $ do
      countIn started allStarted
      pass mailbox next noted number
  takeMVar allStarted
  putStrLn "ready"

  let ring = listArray (0, tasks - 1) mailboxes
  forM_ [0 .. tokens - 1] $ \token ->
    putMVar (ring ! (token * tasks `div` tokens)) $! (operations + tokens - 1 - token) `div` tokens
  numbers <- replicateM tokens (takeMVar noted)
  putStrLn ("done " ++ show operations)
  putStrLn ("check " ++ show (sum numbers)) -- the tasks end with main
  where
    countIn :: IORef Int -> MVar () -> IO ()
    countIn started allStarted = do
      number <- atomicModifyIORef' started (\n -> (n + 1, n + 1))
      when (number == tasks) $ do
        putStrLn ("alive " ++ show tasks)
        putMVar allStarted ()

-- | A token is the number of hops that it has left.
pass :: MVar Int -> MVar Int -> MVar Int -> Int -> IO ()
pass mailbox next noted number = forever $ do
  hops <- takeMVar mailbox
  if hops > 0 then putMVar next $! hops - 1 else putMVar noted number
