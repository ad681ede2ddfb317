// Speaks SFTP to whoever connects, without a login, on a port of this machine that it prints. Ends
// with the process that started it.

import { spawn } from 'node:child_process';
import { createServer } from 'node:net';

const server = createServer((socket) => {
  const child = spawn('/usr/lib/openssh/sftp-server', [], { stdio: ['pipe', 'pipe', 'inherit'] });
  socket.pipe(child.stdin);
  child.stdout.pipe(socket);
  for (const end of [socket, child.stdin]) end.on('error', () => child.kill());
  socket.on('close', () => child.kill());
});
server.listen(0, '127.0.0.1', () => console.log(server.address().port));
process.stdin.on('end', () => process.exit()).resume();
