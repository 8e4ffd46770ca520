import { fitToolInfos, schemaOf, returnsOf } from '#libs/aip';
import type { ListedTool } from '#libs/mcp';
import { AIP_LIMITS, type Json, type ToolInfo } from '#proto';
import { valuesOf } from '../output/index.js';

/** Of a frame, the rest is for the machine: a REGISTER that is too large would be refused for ever. */
const BYTES_MAX = 512 * 1024;
const VALUES_MAX = AIP_LIMITS.jsonValuesMax / 2;

/** The tools as REGISTER names them, with what a caller has to know; when that is too long together, all of them say less. */
export function toolInfos(tools: readonly ListedTool[]): ToolInfo[] {
  const infos = tools.map(({ name, description, readOnly, inputSchema, outputSchema }) => ({
    name,
    description,
    readOnly,
    ...schemaOf(inputSchema),
    ...returnsOf(outputSchema),
  }));
  const fits = (fitted: readonly ToolInfo[]): boolean => {
    const text = JSON.stringify(fitted);
    return Buffer.byteLength(text) <= BYTES_MAX && valuesOf(JSON.parse(text) as Json) <= VALUES_MAX;
  };
  return fitToolInfos(infos, fits);
}
