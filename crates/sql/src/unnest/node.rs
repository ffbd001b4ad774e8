//! The plan node of `CROSS JOIN UNNEST(...)` and `LEFT JOIN UNNEST(...) ON TRUE`.

use std::cmp::Ordering;
use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;

use arrow::datatypes::{DataType, Field};
use datafusion::common::{Column, DFSchema, DFSchemaRef, Result, TableReference, internal_err, plan_err};
use datafusion::logical_expr::{Expr, LogicalPlan, UserDefinedLogicalNodeCore};
use tidemill_runtime::operator;

use crate::function::entry_types;

/// A row for each element of the arrays, or entry of the maps, in a column of the input. The column ends here: so that
/// an array which nobody else reads is not repeated for each of its elements.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Unnest {
    pub(crate) input: LogicalPlan,
    column: Column,
    /// Whether a row without elements stays, with NULLs.
    keeps_empty: bool,
    /// What is known of the columns that it makes.
    made: Made,
    schema: DFSchemaRef,
}

/// The columns that an `UNNEST` makes.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Made {
    /// What the elements are known by in the query.
    pub(crate) relation: Option<TableReference>,
    /// The columns of an element; their types are those of the array.
    pub(crate) names: Vec<String>,
    /// The columns that number the elements of a row, from 1.
    pub(crate) ordinals: Vec<String>,
}

/// The columns of an element of a type, as Flink names them; `None` where the type has no elements.
pub(crate) fn element_columns(data_type: &DataType) -> Option<Vec<(String, DataType)>> {
    if let Some((key, value)) = entry_types(data_type) {
        return Some(vec![("KEY".to_owned(), key.clone()), ("VALUE".to_owned(), value.clone())]);
    }
    match data_type {
        DataType::List(element) => Some(match element.data_type() {
            DataType::Struct(fields) => fields.iter().map(|f| (f.name().clone(), f.data_type().clone())).collect(),
            scalar => vec![("EXPR$0".to_owned(), scalar.clone())],
        }),
        _ => None,
    }
}

impl Unnest {
    pub(crate) fn new(input: LogicalPlan, column: Column, keeps_empty: bool, made: Made) -> Result<Self> {
        let schema = input.schema();
        let at = schema.index_of_column(&column)?;
        let Some(elements) = element_columns(schema.field(at).data_type()) else {
            return internal_err!("UNNEST of a {}", schema.field(at).data_type());
        };
        if elements.len() != made.names.len() {
            return plan_err!("UNNEST gives {} columns, and {} are named", elements.len(), made.names.len());
        }
        let kept = schema.iter().enumerate().filter(|(index, _)| *index != at);
        let mut fields: Vec<_> = kept.map(|(_, (relation, field))| (relation.cloned(), Arc::clone(field))).collect();
        let types = elements.into_iter().map(|(_, data_type)| data_type);
        let columns = made.names.iter().zip(types).chain(made.ordinals.iter().map(|name| (name, DataType::Int32)));
        for (name, data_type) in columns {
            fields.push((made.relation.clone(), Arc::new(Field::new(name, data_type, true))));
        }
        let schema = Arc::new(DFSchema::new_with_metadata(fields, schema.as_arrow().metadata().clone())?);
        Ok(Self { input, column, keeps_empty, made, schema })
    }

    /// The same over another input that has its column.
    pub(crate) fn with_input(&self, input: LogicalPlan) -> Result<Self> {
        Self::new(input, self.column.clone(), self.keeps_empty, self.made.clone())
    }

    /// The same with one more column that numbers the elements.
    pub(crate) fn with_ordinal(&self, input: LogicalPlan, name: String) -> Result<Self> {
        let mut made = self.made.clone();
        made.ordinals.push(name);
        Self::new(input, self.column.clone(), self.keeps_empty, made)
    }

    /// Where a column of the output stands in the input; `None` for those that it makes.
    pub(crate) fn input_index(&self, index: usize) -> Option<usize> {
        let at = self.input.schema().index_of_column(&self.column).ok()?;
        let made = self.made.names.len() + self.made.ordinals.len();
        (index + made < self.schema.fields().len()).then(|| if index < at { index } else { index + 1 })
    }

    /// What both drivers run.
    pub(crate) fn operator(&self) -> Result<operator::Unnest> {
        Ok(operator::Unnest {
            column: self.input.schema().index_of_column(&self.column)?,
            keeps_empty: self.keeps_empty,
            ordinals: self.made.ordinals.len(),
            schema: Arc::new(self.schema.as_arrow().clone()),
        })
    }
}

/// Plans are compared by their form only.
impl PartialOrd for Unnest {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        (self == other).then_some(Ordering::Equal)
    }
}

impl UserDefinedLogicalNodeCore for Unnest {
    fn name(&self) -> &'static str {
        "Unnest"
    }

    fn inputs(&self) -> Vec<&LogicalPlan> {
        vec![&self.input]
    }

    fn schema(&self) -> &DFSchemaRef {
        &self.schema
    }

    fn expressions(&self) -> Vec<Expr> {
        vec![Expr::Column(self.column.clone())]
    }

    fn prevent_predicate_push_down_columns(&self) -> HashSet<String> {
        self.made.names.iter().chain(&self.made.ordinals).cloned().collect()
    }

    fn fmt_for_explain(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let columns: Vec<&str> = self.made.names.iter().chain(&self.made.ordinals).map(String::as_str).collect();
        write!(f, "Unnest: {}", columns.join(", "))?;
        if self.keeps_empty { write!(f, ", keeping rows without elements") } else { Ok(()) }
    }

    fn with_exprs_and_inputs(&self, exprs: Vec<Expr>, inputs: Vec<LogicalPlan>) -> Result<Self> {
        let (Ok([Expr::Column(column)]), Ok([input])) =
            (<[Expr; 1]>::try_from(exprs), <[LogicalPlan; 1]>::try_from(inputs))
        else {
            return internal_err!("UNNEST has one column and one input");
        };
        Self::new(input, column, self.keeps_empty, self.made.clone())
    }

    /// Columns that nobody reads need not be decoded.
    fn necessary_children_exprs(&self, output_columns: &[usize]) -> Option<Vec<Vec<usize>>> {
        let mut needed = vec![self.input.schema().index_of_column(&self.column).ok()?];
        needed.extend(output_columns.iter().filter_map(|index| self.input_index(*index)));
        needed.sort_unstable();
        needed.dedup();
        Some(vec![needed])
    }
}
