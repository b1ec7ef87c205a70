%% Started in each Erlang VM of an explained run: at SIGUSR2 it writes what the VM's allocators hold.
-module(taskscale_probe).
-behaviour(gen_event).
-export([start/0, init/1, handle_event/2, handle_call/2]).

start() ->
    case os:getenv("TASKSCALE_PROBE") of
        false ->
            ok;
        Folder ->
            ok = gen_event:add_handler(erl_signal_server, ?MODULE, Folder),
            ok = os:set_signal(sigusr2, handle),
            ok = file:write_file(path(Folder, "ready"), <<>>)
    end.

init(Folder) -> {ok, Folder}.

handle_call(_, Folder) -> {ok, ok, Folder}.

handle_event(sigusr2, Folder) ->
    Text = [lines(Allocator) || Allocator <- erlang:system_info(alloc_util_allocators)],
    ok = file:write_file(path(Folder, "asked"), Text),
    ok = file:rename(path(Folder, "asked"), path(Folder, "parts")),
    {ok, Folder};
handle_event(_, Folder) ->
    {ok, Folder}.

path(Folder, Ending) -> [Folder, $/, os:getpid(), $., Ending].

lines(Allocator) ->
    Instances = case erlang:system_info({allocator, Allocator}) of
        false -> [];
        List -> [Facts || {instance, _, Facts} <- List]
    end,
    Kinds = [Facts || Instance <- Instances, {Kind, Facts} <- Instance, lists:member(Kind, [mbcs, sbcs, mbcs_pool])],
    Blocks = lists:sum([blocks(Facts) || Facts <- Kinds]),
    Carriers = lists:sum([current(carriers_size, Facts) || Facts <- Kinds]),
    [io_lib:format("live ~b ~s~n", [Blocks, name(Allocator)]),
     io_lib:format("unused ~b carriers of ~s~n", [Carriers - Blocks, name(Allocator)])].

name(eheap_alloc) -> "process heaps and stacks";
name(Allocator) -> atom_to_list(Allocator).

%% Since OTP 22 by allocator type; before, in one list.
blocks(Facts) ->
    case proplists:get_value(blocks, Facts) of
        ByType when is_list(ByType) -> lists:sum([current(size, Of) || {_, Of} <- ByType]);
        _ -> current(blocks_size, Facts)
    end.

%% {Name, Now, MaxSinceLastCall, Max}, or {Name, Now} in a pool.
current(Name, Facts) ->
    case lists:keyfind(Name, 1, Facts) of
        false -> 0;
        Tuple -> element(2, Tuple)
    end.
