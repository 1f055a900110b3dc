/**
 * Imported by the programs of this folder for its effect: their reader may close the pipe early (`| head`). What would be
 * written then is lost, and the program goes on, because its results may be in files too.
 */
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
});
