import type { IncomingHttpHeaders } from 'node:http';
import type { ChatMessage, Json } from '#proto';

/** A chat completion that a client asked for. */
export interface ModelServerRequest {
  readonly headers: IncomingHttpHeaders;
  readonly body: {
    readonly model: string;
    readonly messages: readonly ChatMessage[];
    readonly stream?: boolean;
    readonly stream_options?: { readonly include_usage?: boolean };
    readonly response_format?: { readonly type: string; readonly json_schema?: Json };
    readonly [parameter: string]: unknown;
  };
  /** All messages as one text, to look for something in it. */
  readonly prompt: string;
  /** The last message. */
  readonly last: string;
  /** Settles when the answer has ended: with all of it, or because one of the two broke it off. */
  readonly ended: Promise<'whole' | 'broken-off'>;
}

/** What an endpoint says: text as it is, or a value that is written as JSON; or how it fails. */
export type ModelServerReply = string | { readonly json: Json } | ModelServerFault;

export type ModelServerFault =
  /** An HTTP error. `echoAuthorization`: with the client's own header in it, as careless proxies do. */
  | {
      readonly fault: 'status';
      readonly status: number;
      readonly message?: string;
      readonly code?: string;
      readonly param?: string;
      /** As the header says it: seconds or a date. */
      readonly retryAfter?: string;
      readonly echoAuthorization?: boolean;
    }
  /** Never answers. */
  | { readonly fault: 'hang' }
  /** Breaks the connection before any answer. */
  | { readonly fault: 'reset' }
  /** Breaks the connection in the middle of the reply. */
  | { readonly fault: 'cut'; readonly reply: string }
  /** Ends the stream in the middle of the reply as if it were whole. */
  | { readonly fault: 'end-early'; readonly reply: string }
  /** Falls silent in the middle of the reply. */
  | { readonly fault: 'stall'; readonly reply: string }
  /** Status 200 with something that is no answer of a model. */
  | { readonly fault: 'garbage'; readonly body?: string; readonly contentType?: string }
  /** Status 200 with an `error` in the stream. */
  | { readonly fault: 'error-in-stream'; readonly message: string }
  /** So many bytes of reply. */
  | { readonly fault: 'huge'; readonly bytes: number }
  | { readonly fault: 'empty' }
  /** One piece every so many milliseconds. */
  | { readonly fault: 'slow'; readonly reply: string; readonly pieceMs: number }
  /** The model will not. */
  | { readonly fault: 'refusal'; readonly message: string }
  /** The model stopped at its limit of tokens. */
  | { readonly fault: 'length'; readonly reply: string }
  /** No usage is told, in no form. */
  | { readonly fault: 'no-usage'; readonly reply: string };

/** Those that have nothing to do with what was asked for. */
export type PlainFault = Extract<ModelServerFault, { fault: 'status' | 'hang' | 'reset' | 'garbage' }>;

/** What an endpoint takes; absent means yes. */
export interface ModelServerSupport {
  readonly jsonSchema?: boolean;
  readonly jsonObject?: boolean;
  readonly stream?: boolean;
  /** False: `stream` is neither served nor refused, the answer comes in one piece. */
  readonly heedsStream?: boolean;
  readonly streamOptions?: boolean;
  readonly maxTokens?: boolean;
  readonly temperature?: boolean;
}

interface Refused {
  readonly status: number;
  readonly error: { readonly message: string; readonly type: string; readonly param?: string; readonly code?: string };
}

export function refusalOf(
  { body, headers }: ModelServerRequest,
  support: ModelServerSupport,
  key: string | undefined,
): Refused | undefined {
  const wrongKey = refusalOfKey(headers, key);
  if (wrongKey !== undefined) return wrongKey;
  const format = body.response_format?.type;
  if (format === 'json_schema' && support.jsonSchema === false) {
    return unsupported('response_format', 'response_format of type json_schema is not supported');
  }
  if (format !== undefined && support.jsonObject === false) {
    return unsupported('response_format', 'response_format is not supported');
  }
  if (body.stream_options !== undefined && support.streamOptions === false) {
    return unsupported('stream_options', 'Unrecognized request argument supplied: stream_options');
  }
  if (body.stream === true && support.stream === false) return unsupported('stream', 'stream is not supported');
  if (body['max_tokens'] !== undefined && support.maxTokens === false) {
    return unsupported('max_tokens', "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.");
  }
  if (body['temperature'] !== undefined && support.temperature === false) {
    return unsupported('temperature', "Unsupported value: 'temperature' does not support this model.");
  }
  return undefined;
}

export function refusalOfKey(headers: IncomingHttpHeaders, key: string | undefined): Refused | undefined {
  if (key === undefined || headers.authorization === `Bearer ${key}`) return undefined;
  const message = `Incorrect API key provided: ${String(headers.authorization)}`;
  return { status: 401, error: { message, type: 'invalid_request_error', code: 'invalid_api_key' } };
}

function unsupported(param: string, message: string): Refused {
  return { status: 400, error: { message, type: 'invalid_request_error', param, code: 'unsupported_parameter' } };
}
