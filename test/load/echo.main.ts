// A bare WebSocket server that says what it hears: what a round trip over a socket costs by itself. Node runs this file as it is.
import { WebSocketServer } from 'ws';

const server = new WebSocketServer({ port: 0, host: '127.0.0.1', perMessageDeflate: false });
server.on('listening', () => process.send?.(server.address()));
server.on('connection', (socket) => socket.on('message', (data, isBinary) => socket.send(data, { binary: isBinary })));
process.on('disconnect', () => process.exit(0));
