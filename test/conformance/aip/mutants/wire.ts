import { mutant, type Mutant } from './mutant.js';

const ADMISSION = 'services/aip-gateway/sockets/admission.ts';
const SOCKETS = 'services/aip-gateway/sockets/aip-sockets.adapter.ts';
const HANDSHAKE = 'services/aip-gateway/identity/handshake.ts';
const LIMITS = 'proto/aip/limits.ts';
const CLIENT = 'proto/aip/client-messages.ts';
const FRAMES = 'proto/aip/frames.ts';
const DECODE = 'libs/aip/frames/decode.ts';
const TRANSPORT = 'libs/aip/transport/ws-transport.adapter.ts';
const ENDPOINT = 'libs/aip/session/server-endpoint.ts';
const WEB_SOCKETS = 'perMessageDeflate: false, clientTracking: false }';

/** Below the protocol: who gets a WebSocket, and what is read from it. */
export const WIRE_MUTANTS: readonly Mutant[] = [
  mutant(
    'no token in the URL',
    HANDSHAKE,
    ["url.searchParams.get('token') ?? ''", "url.searchParams.get('key') ?? ''"],
    ['handshake.token-in-the-url'],
  ),
  mutant(
    'no token is a mistake of the client',
    HANDSHAKE,
    ['foreign: true } : refused(401);', 'foreign: true } : refused(400);'],
    ['handshake.no-token'],
  ),
  mutant(
    'everybody is let in',
    ADMISSION,
    [
      'if (identity === null) return 401;',
      "const anybody = { id: 'anybody', role: 'device', targets: null, expiresAt: null } as const;\n    if (identity === null) return { identity: anybody, bearer, foreign };",
    ],
    ['handshake.wrong-token'],
  ),
  mutant(
    'no token in the header',
    HANDSHAKE,
    ['/^Bearer +(\\S+)$/iu', '/^Token +(\\S+)$/iu'],
    ['handshake.token-in-the-header'],
  ),
  mutant(
    'a wrong header does not matter',
    HANDSHAKE,
    ['if (authorization !== undefined) {', "if (authorization !== undefined && !url.searchParams.has('token')) {"],
    ['handshake.wrong-header-token'],
  ),
  mutant(
    'credentials may stand in URLs',
    HANDSHAKE,
    ['return isToken(bearer) && !isCredential(bearer) ?', 'return isToken(bearer) ?'],
    ['handshake.credential-in-the-url'],
  ),
  mutant(
    'what is no URL is not looked at',
    HANDSHAKE,
    ["if (method !== 'GET' || url === undefined) return refused(400);", "if (method !== 'GET') return refused(400);"],
    ['handshake.endless-token'],
  ),
  mutant(
    'any page may open a socket',
    HANDSHAKE,
    ['if (!isFromAllowedOrigin(request, allowedOrigins)) return refused(403);', ''],
    ['handshake.foreign-origin'],
  ),
  mutant(
    'any path is AIP',
    HANDSHAKE,
    ['if (url.pathname !== PATH) return refused(404);', ''],
    ['handshake.other-path'],
  ),
  mutant(
    'compression must not be offered',
    HANDSHAKE,
    ["if (method !== 'GET' ||", "if (headers['sec-websocket-extensions'] !== undefined || method !== 'GET' ||"],
    ['handshake.deflate'],
  ),
  mutant(
    'handshakes take as long as they like',
    LIMITS,
    ['handshakeMs: 5_000', 'handshakeMs: 500_000'],
    ['handshake.slow'],
  ),
  mutant(
    'what is no HTTP is kept waiting',
    SOCKETS,
    ["this.#http.on('upgrade',", "this.#http.on('clientError', () => undefined);\n    this.#http.on('upgrade',"],
    ['handshake.garbage'],
  ),
  mutant(
    'any number of silent sockets',
    ADMISSION,
    ['const UNREGISTERED_MAX = 4;', 'const UNREGISTERED_MAX = 4_000;'],
    ['handshake.silent-sockets'],
  ),
  mutant(
    'pings are not answered',
    SOCKETS,
    [WEB_SOCKETS, `${WEB_SOCKETS.slice(0, -2)}, autoPong: false }`],
    ['websocket.ping'],
  ),
  mutant(
    'messages in one piece only',
    SOCKETS,
    [WEB_SOCKETS, `${WEB_SOCKETS.slice(0, -2)}, maxFragments: 1 }`],
    ['websocket.fragments'],
  ),
  mutant(
    'bytes that are no text are text',
    SOCKETS,
    [WEB_SOCKETS, `${WEB_SOCKETS.slice(0, -2)}, skipUTF8Validation: true }`],
    ['websocket.not-utf8'],
  ),
  mutant(
    'frames need no mask',
    TRANSPORT,
    ["socket.on('pong', onSound);", "socket.on('pong', onSound);\n  socket._receiver._isServer = false;"],
    ['websocket.unmasked'],
  ),
  mutant(
    'a goodbye is not answered',
    TRANSPORT,
    ["socket.on('pong', onSound);", "socket.on('pong', onSound);\n  socket.close = () => undefined;"],
    ['websocket.goodbye'],
  ),
  mutant(
    'heartbeats are answered later',
    TRANSPORT,
    [
      'socket.send(frame, onWritten);',
      'if (frame.includes(\'"heartbeat"\' as never)) setTimeout(() => socket.send(frame, onWritten), 20);\n      else socket.send(frame, onWritten);',
    ],
    ['order.of-answers'],
  ),
  mutant(
    'binary frames are text',
    TRANSPORT,
    ['isBinary ? { frame: null, bytes: bytesOf(data) } : { frame: textOf(data) }', '{ frame: textOf(data) }'],
    ['first.binary', 'wrong.binary', 'wrong.constellation.binary'],
  ),
  mutant(
    'frames of ours may be as long as those of others',
    SOCKETS,
    ['webSockets(AIP_LIMITS.frameBytesMax)', 'webSockets(AIP_LIMITS.foreignFrameBytesMax + 1)'],
    ['limit.frame', 'limit.pieces'],
  ),
  mutant(
    'frames of others may only be as long as ours',
    SOCKETS,
    ['webSockets(NO_LIMIT)', 'webSockets(AIP_LIMITS.frameBytesMax - 1)'],
    ['limit.foreign-frame', 'results.large'],
  ),
  mutant(
    'who sends too fast is not heard',
    ENDPOINT,
    [
      'if (waitMs > 0 && this.#pausedUntilMs === null) {',
      'if (waitMs > 0) return;\n    if (waitMs > 0 && this.#pausedUntilMs === null) {',
    ],
    ['limit.flood'],
  ),
  mutant(
    'NaN is a number',
    DECODE,
    ['JSON.parse(text) as Json', "JSON.parse(text.replaceAll('NaN', '0')) as Json"],
    ['wrong.nan', 'wrong.constellation.nan'],
  ),
  mutant(
    'anything is JSON',
    'proto/ids.ts',
    ["if (typeof value === 'number') return Number.isFinite(value);", "if (typeof value === 'number') return true;"],
    ['wrong.endless-number'],
  ),
  mutant(
    'one level more',
    LIMITS,
    ['jsonDepthMax: 64', 'jsonDepthMax: 65'],
    ['wrong.too-deep', 'wrong.constellation.too-deep'],
  ),
  mutant('one level less', LIMITS, ['jsonDepthMax: 64', 'jsonDepthMax: 63'], ['strange.deep-enough']),
  mutant(
    'any number of values',
    LIMITS,
    ['jsonValuesMax: 100_000', 'jsonValuesMax: 100_000_000'],
    ['wrong.too-many-values', 'wrong.constellation.too-many-values'],
  ),
  mutant(
    'names of any length',
    CLIENT,
    ['client_id: optional(z.string().max(128))', 'client_id: optional(z.string())'],
    ['wrong.long-name', 'wrong.constellation.long-name'],
  ),
  mutant(
    'names of any kind',
    CLIENT,
    ['client_id: optional(z.string().max(128))', 'client_id: optional(z.any())'],
    ['wrong.wrong-field-type', 'wrong.constellation.wrong-field-type'],
  ),
  mutant(
    'a name in every frame',
    CLIENT,
    ['client_id: optional(z.string().max(128))', 'client_id: z.string().max(128)'],
    ['heartbeat.nameless'],
  ),
  mutant(
    'a role in every frame',
    CLIENT,
    ["client_type: ClientRole.default('device')", 'client_type: ClientRole'],
    ['register.minimal'],
  ),
  mutant(
    'any role',
    CLIENT,
    ["client_type: ClientRole.default('device')", "client_type: z.string().default('device')"],
    ['wrong.unknown-role', 'wrong.constellation.unknown-role'],
  ),
  mutant(
    'no status needed',
    CLIENT,
    ['status: AipStatus,', 'status: AipStatus.optional(),'],
    ['wrong.no-status', 'wrong.constellation.no-status', 'first.no-status'],
  ),
  mutant(
    'any status',
    FRAMES,
    ["z.enum(['continue', 'completed', 'failed', 'ok', 'error'])", 'z.string()'],
    ['wrong.unknown-status', 'wrong.constellation.unknown-status'],
  ),
  mutant(
    'any status of a result',
    FRAMES,
    ["z.enum(['success', 'failure', 'skipped', 'none'])", 'z.string()'],
    ['wrong.unknown-result-status'],
  ),
  mutant(
    'any number of results',
    CLIENT,
    ['z.array(ActionResult).max(64)', 'z.array(ActionResult)'],
    ['wrong.many-results'],
  ),
  mutant(
    'REGISTER with known fields only',
    FRAMES,
    ['z.object({ type', "(type === 'register' ? z.strictObject : z.object)({ type"],
    ['register.unknown-fields'],
  ),
  mutant(
    'HEARTBEAT with known fields only',
    FRAMES,
    ['z.object({ type', "(type === 'heartbeat' ? z.strictObject : z.object)({ type"],
    ['heartbeat.unknown-fields'],
  ),
  mutant(
    'null is not absent',
    FRAMES,
    ['schema.nullish()', 'schema.optional()'],
    ['register.nulls', 'heartbeat.nulls'],
  ),
  mutant(
    'no key twice',
    DECODE,
    ['const json = parseJson(text);', 'const json = text.split(\'"type"\').length > 2 ? undefined : parseJson(text);'],
    ['strange.duplicate-keys'],
  ),
  mutant(
    'what stands in __proto__ is everybody’s',
    DECODE,
    [
      'JSON.parse(text) as Json',
      "JSON.parse(text, (key, item) => {\n      if (key === '__proto__') Object.assign(Object.prototype, item);\n      return item;\n    }) as Json",
    ],
    ['strange.prototype-keys'],
  ),
  mutant(
    'half a character is no JSON',
    DECODE,
    ['? wellFormed(value) : value', '? undefined : value'],
    ['strange.lone-surrogate', 'results.half-characters'],
  ),
  mutant(
    'no white space before a frame',
    DECODE,
    [
      'text === null ? decodePiece(ClientMessage, bytes)',
      'text === null || /^\\s/u.test(text) ? decodePiece(ClientMessage, bytes)',
    ],
    ['strange.white-space'],
  ),
];
