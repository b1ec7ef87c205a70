// Loaded in each .NET program of an explained run: at SIGUSR2 it writes what the collector's heap holds.
using System;
using System.IO;
using System.Runtime.InteropServices;

internal static class StartupHook
{
    private const int SigUsr2 = 12;

    // Kept for as long as the program runs.
    private static PosixSignalRegistration? registration;

    public static void Initialize()
    {
        if (Environment.GetEnvironmentVariable("TASKSCALE_PROBE") is not { } folder)
        {
            return;
        }
        registration = PosixSignalRegistration.Create((PosixSignal)SigUsr2, context =>
        {
            context.Cancel = true;
            Answer(folder);
        });
        File.WriteAllText($"{folder}/{Environment.ProcessId}.ready", "");
    }

    private static void Answer(string folder)
    {
        // Facts of the heap are those of the last collection: what was in use before it is asked otherwise.
        long before = GC.GetTotalMemory(forceFullCollection: false);
        GC.Collect(GC.MaxGeneration, GCCollectionMode.Forced, blocking: true, compacting: false);
        GCMemoryInfo heap = GC.GetGCMemoryInfo(GCKind.FullBlocking);
        long live = heap.HeapSizeBytes - heap.FragmentedBytes;
        // What was garbage before is free now.
        long garbage = Math.Max(0, before - live);
        string text = $"live {live} objects\n"
            + $"unused {garbage} garbage not yet collected\n"
            + $"unused {heap.FragmentedBytes - garbage} free within the heap\n";
        string asked = $"{folder}/{Environment.ProcessId}.asked";
        File.WriteAllText(asked, text);
        File.Move(asked, $"{folder}/{Environment.ProcessId}.parts", overwrite: true);
    }
}
