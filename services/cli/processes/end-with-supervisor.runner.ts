// Loaded into every process the supervisor starts, before its own code: when the supervisor is gone, however it went, the
// process is asked to stop. A service that outlives its supervisor would hold its port against the next one.
process.on('disconnect', () => process.kill(process.pid, 'SIGTERM'));
process.channel?.unref();
